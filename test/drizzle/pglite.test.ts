import { openPglite } from "./open_databases.ts";
import { describeQueries } from "./query_suite.ts";

describeQueries("PGlite", openPglite);
