import { describeIsolation } from "./isolation_suite.ts";
import { openPglite } from "./open_databases.ts";
import { describeQueries } from "./query_suite.ts";

describeIsolation("PGlite", openPglite);
describeQueries("PGlite", openPglite);
