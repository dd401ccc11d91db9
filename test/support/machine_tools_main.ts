import { requireMachineTools } from "./machine_tools.ts";

// `sudo node test/support/machine_tools_main.ts`: what the tests need and npm cannot bring, where they run without root.
await requireMachineTools({ withOptional: true });
