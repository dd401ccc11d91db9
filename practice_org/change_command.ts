import type { CommandIo } from "../command_line/command_io.ts";
import { exitCodes } from "../command_line/exit_code.ts";
import { isJsonObject } from "../shared/json.ts";
import { UsageError } from "../shared/usage_error.ts";
import { settings, signInName } from "./changes/org_changes.ts";

export interface ChangeFlags {
  readonly url: string;
  readonly as?: string;
}

/** `practice-org change`: changes an org that runs in another process; each event that it leaves is one line on stdout. */
export async function changeCommand(names: readonly string[], flags: ChangeFlags, io: CommandIo): Promise<number> {
  if (names.includes("list")) {
    for (const line of listLines()) io.stdout(`${line}\n`);
    return exitCodes.ok;
  }
  const known = new Set([signInName, ...settings.flatMap(({ changes }) => changes.map(({ name }) => name))]);
  const unknown = names.filter((name) => !known.has(name));
  if (unknown.length > 0) {
    throw new UsageError(
      unknown.map(
        (name) => `Cannot make the change ${JSON.stringify(name)}: \`practice-org change list\` has all names`,
      ),
    );
  }
  const address = parseAddress(flags.url);
  for (const name of names) {
    for (const eventType of await requestChange(address, name, flags.as)) io.stdout(`${name} ${eventType}\n`);
  }
  return exitCodes.ok;
}

/** Each pair of changes under the area that it is about. */
export function listLines(): readonly string[] {
  const all = settings.flatMap(({ area, changes }) => changes.map(({ name, label }) => ({ area, name, label })));
  const width = Math.max(...all.map(({ name }) => name.length));
  const lines = [...new Set(all.map(({ area }) => area))].flatMap((area) => [
    `${area}:`,
    ...all.filter((change) => change.area === area).map(({ name, label }) => `  ${name.padEnd(width)}  ${label}`),
  ]);
  return [...lines, "Traffic:", `  ${signInName.padEnd(width)}  Sign in, which changes nothing`];
}

function parseAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === "http:" && /^(?:127\.0\.0\.1|localhost|\[::1\])$/.test(url.hostname)) return url;
  throw new UsageError([
    `--url: ${JSON.stringify(text)} is no practice org: expected http://127.0.0.1:8788 or the like`,
  ]);
}

const timeoutMs = 10_000;

async function requestChange(address: URL, name: string, actor: string | undefined): Promise<readonly string[]> {
  const target = new URL("/practice/change", address);
  let status: number;
  let body: unknown;
  try {
    const response = await fetch(target, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name, ...(actor === undefined ? {} : { actor }) }),
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    });
    ({ status } = response);
    body = await response.json();
  } catch {
    throw new UsageError([`No practice org answers at ${address.origin}: start one with \`practice-org --port 8788\``]);
  }
  if (status === 200 && isJsonObject(body) && Array.isArray(body["events"])) {
    return body["events"].map((event) => (isJsonObject(event) ? String(event["event_type"]) : "unknown"));
  }
  const reason = isJsonObject(body) && typeof body["error"] === "string" ? body["error"] : `it answered ${status}`;
  throw new UsageError([`${name}: ${reason}`]);
}
