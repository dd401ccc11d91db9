import { describeRuntimeFaults } from "./runtime_faults.ts";

describeRuntimeFaults("Node", { silenceBoundMs: 30_000 });
