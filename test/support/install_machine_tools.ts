import { requireMachineTools } from "./machine_tools.ts";

// `sudo node test/support/install_machine_tools.ts`: what the tests need and npm cannot bring, where they run without root.
await requireMachineTools();
