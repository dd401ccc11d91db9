import {
  decisionSchema,
  type AttestedStatus,
  type Decision,
  type DecisionKind,
} from "../../../../shared/schemas/decision.ts";
import { parseAnswer, type Api } from "../api.ts";

/** Fields that a person fills in. */
export interface NewDecision {
  readonly kind: DecisionKind;
  readonly check: string;
  readonly resource?: string;
  readonly status?: AttestedStatus;
  readonly reason: string;
  /** A day, or `never`. */
  readonly expires: string;
  readonly org_url: string | null;
}

export const decisionsPath = "api/v1/decisions";

/** Rejects as `Api` does. */
export async function createDecision(api: Api, body: NewDecision, signal: AbortSignal): Promise<Decision> {
  return parseAnswer(decisionSchema, await api.send("POST", decisionsPath, { signal, body }));
}

/** Rejects as `Api` does. */
export async function withdrawDecision(api: Api, { id }: Pick<Decision, "id">, signal: AbortSignal): Promise<void> {
  await api.send("DELETE", `${decisionsPath}/${encodeURIComponent(id)}`, { signal });
}
