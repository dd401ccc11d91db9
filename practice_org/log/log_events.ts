import { randomBytes, randomUUID } from "node:crypto";
import type { JsonObject } from "../../shared/json.ts";

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

const rawUserAgent =
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";
/** From the range for documentation (RFC 5737). */
const headquarters = "198.51.100.23";
const geographicalContext = {
  city: "Arlington",
  state: "Virginia",
  country: "United States",
  postalCode: "22202",
  geolocation: { lat: 38.8568, lon: -77.0493 },
};

export function logEvent(transaction: LogTransaction, spec: LogEventSpec): LogEvent {
  const { requestUri } = transaction;
  return {
    actor: transaction.actor,
    client: {
      userAgent: { rawUserAgent, os: "Mac OS X", browser: "CHROME" },
      zone: "null",
      device: "Computer",
      id: null,
      ipAddress: headquarters,
      geographicalContext,
    },
    device: null,
    authenticationContext: {
      authenticationProvider: null,
      credentialProvider: null,
      credentialType: null,
      issuer: null,
      interface: null,
      authenticationStep: 0,
      rootSessionId: null,
      externalSessionId: `idx${transaction.id}`,
    },
    displayMessage: spec.displayMessage,
    eventType: spec.eventType,
    outcome: spec.outcome ?? { result: "SUCCESS", reason: null },
    published: new Date(transaction.nowMs).toISOString(),
    securityContext: {
      asNumber: 64_496,
      asOrg: "practice example",
      isp: "practice example",
      domain: "practice.example",
      isProxy: false,
    },
    severity: "INFO",
    debugContext: {
      debugData: {
        requestId: transaction.id,
        requestUri,
        url: `${requestUri}?`,
      },
    },
    legacyEventType: null,
    transaction: { type: "WEB", id: transaction.id, detail: {} },
    uuid: randomUUID(),
    version: "0",
    request: { ipChain: [{ ip: headquarters, geographicalContext, version: "V4", source: null }] },
    target: spec.targets,
  };
}
