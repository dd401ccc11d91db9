import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { edit, type Draft, type Found } from "../changes/edit.ts";
import { NotPossibleError } from "../not_possible_error.ts";
import { invalid, json, providerError, type PracticeResponse } from "../http/messages.ts";
import type { OrgContents } from "../contents/org_contents.ts";

/** A request that changes the org, with the org while it changes. */
export interface WriteCall {
  readonly draft: Draft;
  /** The org before the request. */
  readonly contents: OrgContents;
  /** The variable segments of the path, in order. */
  readonly segments: readonly string[];
  /** Empty where the request has none. */
  readonly body: JsonObject;
}

export type Write = (call: WriteCall) => PracticeResponse;

/** Writes an object, and answers it. One that changes nothing is answered like any other, and leaves no event. */
export function put<Item extends JsonObject>(draft: Draft, place: Found<Item>, after: Item): PracticeResponse {
  try {
    return json(200, edit(draft, place, after));
  } catch (error) {
    if (!(error instanceof NotPossibleError)) throw error;
    return json(200, place.item);
  }
}

/** Writes the status that the step `activate` or `deactivate` of a lifecycle leads to; refuses any other step. */
export function putStatus<Item extends JsonObject>(
  draft: Draft,
  place: Found<Item>,
  verb: string | undefined,
): PracticeResponse {
  if (verb !== "activate" && verb !== "deactivate") return providerError("E0000006");
  return put(draft, place, { ...place.item, status: verb === "activate" ? "ACTIVE" : "INACTIVE" });
}

/**
 * Fields that the provider keeps of an object that is replaced: a field that was not sent, or was sent as null, has its default
 * again. Lists are replaced as a whole.
 */
export function withDefaults(defaults: JsonObject, sent: unknown): JsonObject {
  if (!isJsonObject(sent)) return defaults;
  const kept: Record<string, unknown> = { ...defaults };
  for (const [name, value] of Object.entries(sent)) {
    if (value === null || value === undefined) continue;
    const standard = defaults[name];
    kept[name] = isJsonObject(standard) && isJsonObject(value) ? withDefaults(standard, value) : value;
  }
  return kept;
}

export function textIn(body: JsonObject, field: string): string | null {
  const value = body[field];
  return typeof value === "string" && value.trim() !== "" ? value : null;
}

export function blankName(): PracticeResponse {
  return invalid("name", "The field cannot be left blank");
}
