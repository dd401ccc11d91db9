import { describeRuntimeFaults } from "./runtime_faults.ts";

describeRuntimeFaults("Deno", { file: "test/faults/on_deno.test.ts", silenceBoundMs: 30_000 });
