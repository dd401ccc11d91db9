import { exitCodes } from "../../command_line/exit_code.ts";
import { withTimeout } from "../../shared/with_timeout.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { GatewayIo } from "../../command_line/command_io.ts";
import { denoHttp } from "./deno_http.ts";
import { Interruption } from "./interruption.ts";
import { serve } from "./serve.ts";

/** Limit for a log that nobody takes. */
const maxWaitingLines = 10_000;

/** Writes in order, in the background: neither a full disk nor a reader that has stopped ends or holds up anything. */
function openOutput(output: typeof Deno.stderr) {
  const writer = new WritableStream<string>({
    async write(text) {
      const bytes = new TextEncoder().encode(text);
      for (let at = 0; at < bytes.length;) at += await output.write(bytes.subarray(at)).catch(() => bytes.length);
    },
  }).getWriter();
  return {
    write: (text: string) => void ((writer.desiredSize ?? 0) > -maxWaitingLines && writer.write(text)),
    close: () => withTimeout(writer.close(), 1000).catch(() => undefined),
  };
}

/**
 * The gateway on Deno, until SIGINT or SIGTERM, then drained; what a client has not read by then is lost with the process.
 * `deno.json` gives it the least permissions: it reads only the variables that are listed there.
 */
if (import.meta.main) {
  const interruption = new Interruption();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => {
      if (!interruption.receive(signal)) Deno.exit(exitCodes.interrupted);
    });
  }
  // Read one by one: the permission is for each.
  const env: GatewayIo["env"] = new Proxy({}, { get: (_, name) => Deno.env.get(String(name)) });
  const { interrupted, skipDelay } = interruption;
  const [stdout, terminal] = [openOutput(Deno.stdout), openOutput(Deno.stderr)];
  const io: GatewayIo = { env, interrupted, skipDelay, stdout: stdout.write, terminal };
  const code = await serve(io, denoHttp).catch((error: unknown) => {
    if (error === interrupted.reason) return exitCodes.interrupted;
    terminal.write(`${error instanceof UsageError ? error.message : Deno.inspect(error)}\n`);
    return error instanceof UsageError ? exitCodes.usage : exitCodes.bug;
  });
  await Promise.all([stdout.close(), terminal.close()]);
  Deno.exit(code);
}
