import { describeIsolation } from "./isolation_suite.ts";
import { openPg } from "./open_databases.ts";
import { describeQueries } from "./query_suite.ts";

describeIsolation("pg", openPg);
describeQueries("pg", openPg);
