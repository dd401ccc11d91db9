import { runScansOnBadNetwork } from "./scans_on_bad_network.ts";

/** `npx node test/faults/bad_network_main.ts [SCANS SEED]`: default 300 scans. Exit code 1 when anything was not as promised. */
const [scans = "300", seed = "1"] = process.argv.slice(2);
const startedMs = performance.now();
const { complaints, ...counts } = await runScansOnBadNetwork({ scans: Number(scans), lanes: 12, seed: Number(seed) });
console.log({ ...counts, seconds: Math.round((performance.now() - startedMs) / 1000) });
for (const complaint of complaints) console.error(complaint);
process.exitCode = complaints.length === 0 ? 0 : 1;
