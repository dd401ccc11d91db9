import type { Context } from "hono";
import { NotFound } from "../../shared/app_error.ts";
import { isUuid } from "../../shared/channel_name.ts";

/** The UUID in a request's path. Anything but a UUID throws `NotFound`, like an unknown id. */
export function pathId(c: Context, what: string, parameter = "id"): string {
  const id = c.req.param(parameter);
  if (!isUuid(id)) throw new NotFound(`No such ${what}`);
  return id;
}
