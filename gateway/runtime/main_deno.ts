import { exitCodes } from "../../command_line/exit_code.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { GatewayIo } from "../../command_line/command_io.ts";
import { denoHttp } from "./deno_http.ts";
import { Interruption } from "./interruption.ts";
import { serve } from "./serve.ts";

/**
 * The gateway on Deno, until SIGINT or SIGTERM, then drained; what a client has not read by then is lost with the process.
 * `deno.json` gives it the least permissions: it reads only the variables that are listed there.
 */
async function main(interruption: Interruption): Promise<number> {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => {
      if (!interruption.receive(signal)) Deno.exit(exitCodes.interrupted);
    });
  }
  // Read one by one: the permission is for each.
  const env: GatewayIo["env"] = new Proxy({}, { get: (_, name) => Deno.env.get(String(name)) });
  const { interrupted, skipDelay } = interruption;
  const terminal = { write: writeTo(Deno.stderr) };
  return serve({ env, interrupted, skipDelay, stdout: writeTo(Deno.stdout), terminal }, denoHttp);
}

/** A write that fails ends nothing: a log on a full disk, or whose reader is gone, is no reason to close streams. */
function writeTo(output: typeof Deno.stderr): (text: string) => void {
  return (text) => {
    try {
      output.writeSync(new TextEncoder().encode(text));
    } catch {
      // Nowhere left to report it.
    }
  };
}

if (import.meta.main) {
  const interruption = new Interruption();
  try {
    Deno.exit(await main(interruption));
  } catch (error) {
    if (error === interruption.interrupted.reason) Deno.exit(exitCodes.interrupted);
    console.error(error instanceof UsageError ? error.message : error);
    Deno.exit(error instanceof UsageError ? exitCodes.usage : exitCodes.bug);
  }
}
