import { describeIsolation } from "./isolation_suite.ts";
import { openPg } from "./open_databases.ts";

describeIsolation("pg", openPg);
