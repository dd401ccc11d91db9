import { describeRuntimeFaults } from "./runtime_faults.ts";

describeRuntimeFaults("Node", { file: "test/faults/on_node.test.ts", silenceBoundMs: null });
