import { describeRuntimeFaults } from "./runtime_faults.ts";

describeRuntimeFaults("Workers", { silenceBoundMs: 60_000 });
