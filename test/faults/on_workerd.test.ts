import { describeRuntimeFaults } from "./runtime_faults.ts";

describeRuntimeFaults("Workers");
