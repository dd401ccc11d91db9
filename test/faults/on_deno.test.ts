import { describeRuntimeFaults } from "./runtime_faults.ts";

describeRuntimeFaults("Deno", { silenceBoundMs: 30_000 });
