import { createPublicKey } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { calculateJwkThumbprint } from "jose";
import type { CommandIo } from "../command_line/command_io.ts";
import { exitCodes } from "../command_line/exit_code.ts";
import { isJsonObject } from "../shared/json.ts";
import { UsageError } from "../shared/usage_error.ts";
import { addressFileName } from "./auth/credentials.ts";
import { isAppClick, serviceAppClicks } from "./auth/service_app.ts";
import { readProblem } from "../shared/error_code.ts";
import { findChange, signInName, unknownChange } from "./changes/admin_console.ts";
import { settings } from "./changes/settings.ts";

export interface ChangeFlags {
  /** Default: the org that was started last in this folder. */
  readonly url?: string;
  /** The folder of that org's state. */
  readonly state?: string;
  readonly as?: string;
}

/** `practice-org change`: changes an org that runs in another process; each event that it leaves is one line on stdout. */
export async function changeCommand(names: readonly string[], flags: ChangeFlags, io: CommandIo): Promise<number> {
  if (names.includes("list")) {
    for (const line of listLines()) io.stdout(`${line}\n`);
    return exitCodes.ok;
  }
  const unknown = names.filter((name) => name !== signInName && !isAppClick(name) && findChange(name) === undefined);
  if (unknown.length > 0) throw new UsageError(unknown.map(unknownChange));
  const address = parseAddress(flags.url ?? (await readAddress(flags.state)) ?? defaultAddress);
  for (const name of names) {
    const [base, file] = name.startsWith("key-saved") ? ["key-saved", name.slice("key-saved:".length)] : [name, ""];
    const key = base === "key-saved" ? { key: await publicKeyOf(file) } : {};
    const { clientId, events } = await requestChange(address, { name: base, actor: flags.as, ...key });
    if (clientId !== null) io.stdout(`${clientId}\n`);
    for (const eventType of events) io.stdout(`${base} ${eventType}\n`);
  }
  return exitCodes.ok;
}

/** Each pair of changes under the area that it is about. */
function listLines(): readonly string[] {
  const all = settings.flatMap(({ area, changes }) => changes.map(({ name, label }) => ({ area, name, label })));
  const width = Math.max(...all.map(({ name }) => name.length));
  const lines = [...new Set(all.map(({ area }) => area))].flatMap((area) => [
    `${area}:`,
    ...all.filter((change) => change.area === area).map(({ name, label }) => `  ${name.padEnd(width)}  ${label}`),
  ]);
  return [
    ...lines,
    "Traffic:",
    `  ${signInName.padEnd(width)}  Sign in, which changes nothing`,
    "The scanner's service app (practice-org --fresh begins without one):",
    ...serviceAppClicks.map((name) => `  ${name}`),
  ];
}

function parseAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === "http:" && /^(?:127\.0\.0\.1|localhost|\[::1\])$/.test(url.hostname)) return url;
  throw new UsageError([
    `--url: ${JSON.stringify(text)} is no practice org: expected http://127.0.0.1:8788 or the like`,
  ]);
}

const defaultAddress = "http://127.0.0.1:8788";

/** Address of the org that was started last in this folder; null: none was. */
async function readAddress(stateFolder = ".scanstream/practice-org"): Promise<string | null> {
  const text = await readFile(join(stateFolder, addressFileName), "utf8").catch(() => null);
  return text?.trim() ?? null;
}

/** The public half of a key file; without a name, of the key that the last setup in this folder made. */
async function publicKeyOf(file: string): Promise<string> {
  const path = file === "" ? await newestKey() : file;
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw new UsageError([`key-saved: cannot read ${JSON.stringify(path)}: ${readProblem(error) ?? "unreadable"}`]);
  });
  if (text.trimStart().startsWith("{")) return text;
  try {
    const jwk = createPublicKey(text).export({ format: "jwk" });
    return JSON.stringify({ ...jwk, kid: await calculateJwkThumbprint(jwk) });
  } catch {
    throw new UsageError([`key-saved: ${JSON.stringify(path)} holds no key: expected PEM, or a public JWK`]);
  }
}

async function newestKey(): Promise<string> {
  const folder = ".scanstream/keys";
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".pem"));
  const files = await Promise.all(
    names.map(async (name) => ({ path: join(folder, name), at: (await stat(join(folder, name))).mtimeMs })),
  );
  const [newest] = files.toSorted((one, other) => other.at - one.at);
  if (newest !== undefined) return newest.path;
  throw new UsageError([
    `key-saved: there is no key in ${folder}: run scanstream setup first, or name a file: key-saved:FILE`,
  ]);
}

const timeoutMs = 10_000;

interface Made {
  /** The id of an app that this click created; null for any other click. */
  readonly clientId: string | null;
  readonly events: readonly string[];
}

async function requestChange(
  address: URL,
  asked: { readonly name: string; readonly actor: string | undefined; readonly key?: string },
): Promise<Made> {
  const { name } = asked;
  const target = new URL("/practice/change", address);
  let status: number;
  let body: unknown;
  try {
    const response = await fetch(target, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(asked),
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    });
    ({ status } = response);
    body = await response.json();
  } catch {
    throw new UsageError([`No practice org answers at ${address.origin}: start one with \`practice-org --port 8788\``]);
  }
  if (status === 200 && isJsonObject(body) && Array.isArray(body["events"])) {
    const { client_id: clientId } = body;
    return {
      clientId: typeof clientId === "string" ? clientId : null,
      events: body["events"].map((event) => (isJsonObject(event) ? String(event["event_type"]) : "unknown")),
    };
  }
  const reason = isJsonObject(body) && typeof body["error"] === "string" ? body["error"] : `it answered ${status}`;
  throw new UsageError([`${name}: ${reason}`]);
}
