import * as v from "valibot";
import { problemSchema } from "./problem.ts";

const availability = v.picklist(["ok", "away"]);

export const healthSchema = v.object({ status: v.literal("ok") });
const checksSchema = v.object({ database: availability, broker: availability, draining: v.boolean() });
export const readySchema = v.object({ status: v.literal("ready"), checks: checksSchema });
export const notReadySchema = v.object({ ...problemSchema.entries, checks: checksSchema });
