import type { Publisher } from "../../shared/broker.ts";
import { sendEvent } from "../../shared/send_event.ts";

/** Clients refetch the document; `version` tells them whether they have it already. */
type Change = { readonly document_id: string; readonly version: number };

export function publishDocumentCreated(publisher: Publisher, channel: string, payload: Change): Promise<void> {
  return sendEvent(publisher, channel, "document.created", payload);
}

export function publishDocumentUpdated(publisher: Publisher, channel: string, payload: Change): Promise<void> {
  return sendEvent(publisher, channel, "document.updated", payload);
}

export function publishDocumentDeleted(publisher: Publisher, channel: string, payload: Change): Promise<void> {
  return sendEvent(publisher, channel, "document.deleted", payload);
}
