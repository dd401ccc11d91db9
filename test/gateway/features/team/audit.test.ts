import { openPglite } from "../../../drizzle/open_databases.ts";
import { describeAudit } from "./audit_suite.ts";

describeAudit("PGlite", openPglite);
