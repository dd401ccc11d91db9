import type { Context } from "hono";
import { NotFound } from "../../shared/app_error.ts";
import { isUuid } from "../../shared/channel_name.ts";

/** The UUID in a request's path. What is none names nothing: throws `NotFound` that says of what kind, as for one that is not there. */
export function pathId(c: Context, what: string, parameter = "id"): string {
  const id = c.req.param(parameter);
  if (!isUuid(id)) throw new NotFound(`No such ${what}`);
  return id;
}
