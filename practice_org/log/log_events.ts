import { randomBytes, randomUUID } from "node:crypto";
import type { JsonObject } from "../../shared/json.ts";
import { copyOf, recordedEvent } from "../contents/new_objects.ts";

/** An entry of the System Log as the provider sends it; field order and nulls as in the reference. */
export interface LogEvent extends JsonObject {
  readonly uuid: string;
  readonly published: string;
  readonly eventType: string;
  readonly displayMessage: string | null;
  readonly actor: LogActor;
  readonly target: readonly LogTarget[] | null;
}

export interface LogActor extends JsonObject {
  readonly id: string;
  readonly type: string;
  readonly alternateId: string;
  readonly displayName: string;
}

export interface LogTarget extends JsonObject {
  readonly id: string | null;
  readonly type: string | null;
  readonly alternateId: string | null;
  readonly displayName: string | null;
}

export interface LogEventSpec {
  readonly eventType: string;
  readonly displayMessage: string;
  /** Null: an event that names none. */
  readonly targets: readonly LogTarget[] | null;
  readonly outcome?: { readonly result: string; readonly reason: string | null };
}

/** Fields that the events of one action in the Admin Console share. */
export interface LogTransaction {
  readonly id: string;
  readonly actor: LogActor;
  readonly nowMs: number;
  /** The part of the Admin Console's API that was called. */
  readonly requestUri: string;
}

/** The provider's transaction ids are 22 characters of base64 with a fixed beginning or end; ours are as long. */
export function createTransactionId(): string {
  return randomBytes(18).toString("base64url").slice(0, 22);
}

export function logEvent(transaction: LogTransaction, spec: LogEventSpec): LogEvent {
  const { id, actor, nowMs, requestUri } = transaction;
  const published = new Date(nowMs).toISOString();
  const event = copyOf(recordedEvent, { transaction: id, published, requestUri, uuid: randomUUID() });
  const { displayMessage, eventType, targets } = spec;
  return { ...event, actor, displayMessage, eventType, outcome: spec.outcome ?? event.outcome, target: targets };
}
