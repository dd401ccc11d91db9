import type { Change } from "./schemas/change.ts";
import type { OwnDecisions } from "./schemas/finding.ts";

type Explained = Pick<Change, "explained_by" | "cause" | "seen_at">;
type Decided = Pick<Change, "from_waived" | "to_waived" | keyof OwnDecisions>;

/** Changes of one poll that the same events of the log explain: one act of a person. */
export function groupChanges<Item extends Explained>(changes: readonly Item[]): readonly (readonly Item[])[] {
  return [...Map.groupBy(changes, (change) => keyOf(change) ?? change).values()];
}

/** Null for what no event explains: it belongs to nothing else. */
function keyOf({ explained_by: events, cause, seen_at: seenAt }: Explained): string | null {
  const ids = events.map(({ uuid }) => uuid);
  return cause === "start" || ids.length === 0 || ids.includes("unknown")
    ? null
    : [seenAt, ...ids.toSorted()].join(" ");
}

const maxAlso = 3;

/** Events of the same interval that name nobody: `also in this interval: application.lifecycle.update Wiki`; empty without any. */
export function alsoText({ also }: Pick<Change, "also">): string {
  const texts = [...new Set(also)];
  const more = texts.length > maxAlso ? ` and ${texts.length - maxAlso} more` : "";
  return texts.length === 0 ? "" : `also in this interval: ${texts.slice(0, maxAlso).join(", ")}${more}`;
}

/** Why a result changed although nothing in the org did. */
export const orgPolicyText = "the organization's document changed, began or ended";

/**
 * Returns the decisions after a change whose cause is a decision. A change does not say which of them moved, so both are named; nobody is named for
 * one that the gateway keeps.
 */
export function decisionText(change: Decided): string {
  const { from_waived: wasWaived, attestation_status: status } = change;
  // The page takes off a waiver that has lapsed since.
  const isWaived = change.to_waived || change.waiver_reason !== null;
  const by = (name: string | null) => (name === null ? "" : ` by ${name}`);
  const waived = isWaived ? [`${wasWaived ? "now waived" : "waived"}${by(change.waiver_by)}`] : [];
  const ended = wasWaived && !isWaived ? ["the waiver ended"] : [];
  const attested = status === null ? [] : [`attested as ${status}${by(change.attestation_by)}`];
  return [...waived, ...ended, ...attested].join(", ") || "an attestation began or ended";
}

/** The objects that events were about, each once, such as `zone "Offices"`. */
export function objectsOf(events: Explained["explained_by"]): readonly string[] {
  return [...new Set(events.flatMap(({ object }) => (object ? [`${wordsOf(object.type)} "${object.name}"`] : [])))];
}

/** The log's `NetworkZone`, `PolicyEntity` and `AppInstance` as people call them. */
function wordsOf(type: string): string {
  return type
    .replace(/(?:Entity|Instance)$/, "")
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ")
    .toLowerCase()
    .replace(/^network zone$/, "zone");
}
