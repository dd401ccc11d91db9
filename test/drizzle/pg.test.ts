import { createPgDatabase } from "../../drizzle/databases/pg.ts";
import { openPg } from "./open_databases.ts";
import { describeOutages } from "./outage_suite.ts";
import { describeQueries } from "./query_suite.ts";

describeQueries("pg", openPg);
describeOutages("pg", { connect: createPgDatabase });
