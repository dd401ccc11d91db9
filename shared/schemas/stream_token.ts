import * as v from "valibot";
import { fieldMessage, uuid } from "./primitives.ts";

export const streamTokenRequestSchema = v.strictObject({ scan_id: uuid("expected the UUID of a scan") }, fieldMessage);
export const streamTokenSchema = v.object({ access_token: v.string(), expires_in: v.literal(60) });
