import { createPgDatabase } from "../../drizzle/databases/pg.ts";
import { describeOutages } from "./outage_suite.ts";

describeOutages("pg", { connect: createPgDatabase });
