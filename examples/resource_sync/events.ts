import type { Publisher } from "../../shared/send_event.ts";

/** Clients refetch the document; `version` tells them whether they have it already. */
type Change = { readonly document_id: string; readonly version: number };

export const documentEvents = ({ sendEvent }: Publisher) => ({
  publishDocumentCreated: (channel: string, payload: Change) => sendEvent(channel, "document.created", payload),
  publishDocumentUpdated: (channel: string, payload: Change) => sendEvent(channel, "document.updated", payload),
  publishDocumentDeleted: (channel: string, payload: Change) => sendEvent(channel, "document.deleted", payload),
});
