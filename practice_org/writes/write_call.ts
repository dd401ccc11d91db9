import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import type { Draft } from "../changes/edit.ts";
import { NotPossibleError } from "../not_possible_error.ts";
import { json, providerError, type PracticeResponse } from "../http/messages.ts";
import type { Resource } from "../contents/org_contents.ts";

/** A request that changes the org, with the org while it changes. */
export interface WriteCall {
  readonly draft: Draft;
  /** The variable segments of the path, in order. */
  readonly segments: readonly string[];
  /** Empty where the request has none. */
  readonly body: JsonObject;
}

export type Write = (call: WriteCall) => PracticeResponse;

/** Makes an edit; one that changes nothing is answered like any other, and leaves no event. */
export function attempt(edit: () => void): void {
  try {
    edit();
  } catch (error) {
    if (!(error instanceof NotPossibleError)) throw error;
  }
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

/** Null: no step of a lifecycle. */
export function statusOf(verb: string | undefined): "ACTIVE" | "INACTIVE" | null {
  if (verb === "activate") return "ACTIVE";
  return verb === "deactivate" ? "INACTIVE" : null;
}

export function textIn(body: JsonObject, field: string): string | null {
  const value = body[field];
  return typeof value === "string" && value.trim() !== "" ? value : null;
}

export function invalid(field: string, problem: string): PracticeResponse {
  return providerError("E0000001", {
    summary: `Api validation failed: ${field}`,
    causes: [`${field}: ${problem}`],
  });
}

export function answerWith(item: Resource | JsonObject): PracticeResponse {
  return json(200, item);
}

export const noContent: PracticeResponse = { status: 204, headers: [], body: "" };
