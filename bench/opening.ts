import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { streamPath, type Backends } from "./backends.ts";
import type { BenchServer } from "./bench_server.ts";
import { startLoadClient } from "./load_client.ts";

/** What authenticates the streams. */
export type Credential = "one JWT" | "a JWT each" | "one API key";

export interface OpeningOptions {
  readonly backends: Backends;
  readonly streams: number;
  readonly credential: Credential;
  /** Every stream another scan, or all the same one. Default: another. */
  readonly scans?: "each" | "one";
}

export interface OpeningFigures {
  readonly opensPerSecond: number;
  /** CPU time of the gateway for one stream. */
  readonly cpuMicroseconds: number;
  readonly refused: number;
}

const timeoutSeconds = 60;
const signed = new Map<number, readonly string[]>();

/** Opens streams, 200 concurrently, until all have their head. */
export async function measureOpening(
  client: string,
  server: BenchServer,
  { backends, streams, credential, scans = "each" }: OpeningOptions,
): Promise<OpeningFigures> {
  const folder = await mkdtemp(join(tmpdir(), "scanstream-bench-"));
  const file = join(folder, "paths");
  const tokens = credential === "a JWT each" ? await signAll(backends, streams) : [];
  const paths = Array.from({ length: streams }, (_, index) => {
    const path = streamPath(String(scans === "each" ? index : 0).padStart(12, "0"));
    return tokens.length === 0 ? path : `${path}?access_token=${tokens[index] ?? ""}`;
  });
  await writeFile(file, `${paths.join("\n")}\n`);
  const apiKey = [`Authorization: Api-Key ${backends.apiKey}`];
  const headers = { "one JWT": server.headers, "a JWT each": [], "one API key": apiKey }[credential];
  const cpuBefore = await server.process.cpuSeconds();
  const load = startLoadClient(client, {
    host: server.host,
    port: server.port,
    path: `@${file}`,
    headers,
    streams,
    eventsPerStream: 1,
    timeoutSeconds,
    step: 0,
  });
  try {
    const { ready, failed, seconds } = await load.opened;
    const cpuSeconds = (await server.process.cpuSeconds()) - cpuBefore;
    return {
      opensPerSecond: ready / seconds,
      cpuMicroseconds: (cpuSeconds / streams) * 1e6,
      refused: failed,
    };
  } finally {
    await load.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Made once: signing costs more than what is measured. */
async function signAll(backends: Backends, count: number): Promise<readonly string[]> {
  const known = signed.get(count);
  if (known !== undefined) return known;
  const tokens: string[] = [];
  for (let member = 0; member < count; member += 1) tokens.push(await backends.sign(member));
  signed.set(count, tokens);
  return tokens;
}
