import { figureTable, readResult } from "./results.ts";

export async function denoSection(): Promise<string> {
  const { figures } = await readResult<Readonly<Record<string, number>>>("deno_memory");
  return figureTable(Object.entries(figures).map(([name, bytes]) => [name, `${(bytes / 1024).toFixed(1)} KiB`]));
}
