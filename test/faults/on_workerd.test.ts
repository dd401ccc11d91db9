import { describeRuntimeFaults } from "./runtime_faults.ts";

describeRuntimeFaults("Workers", { file: "test/faults/on_workerd.test.ts", silenceBoundMs: 60_000 });
