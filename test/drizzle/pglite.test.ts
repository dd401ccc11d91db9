import { describeIsolation } from "./isolation_suite.ts";
import { openPglite } from "./open_databases.ts";

describeIsolation("PGlite", openPglite);
