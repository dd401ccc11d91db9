import { installRuntimes } from "./install.ts";

// `npm run runtimes`: for commands that use a runtime outside the tests.
installRuntimes();
