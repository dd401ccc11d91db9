import { maxActorLogin, maxActorName } from "../../shared/actor.ts";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import type { ArtifactName } from "../evidence/artifacts.ts";
import type { Explanation } from "../../shared/schemas/change.ts";
import { shorten } from "../../shared/text.ts";

/** Entry of the System Log as it is kept. Anything may be missing from an entry, and it decides no verdict. */
export interface LogEvent {
  /** Its identity: an entry may be read several times. Null: it has none that is usable. */
  readonly uuid: string | null;
  readonly type: string;
  readonly published: string | null;
  readonly outcome: string | null;
  readonly actor: LogActor;
  readonly transactionId: string | null;
  readonly ipAddress: string | null;
  readonly targets: readonly LogTarget[];
}

/** An event of the log that touches what a check reads. */
export interface Relevant {
  readonly event: LogEvent;
  readonly artifacts: readonly ArtifactName[];
}

export type LogActor = NonNullable<Explanation["actor"]>;

export interface LogTarget {
  readonly id: string;
  readonly type: string | null;
  readonly name: string | null;
}

const maxTargets = 50;

/** Null for an entry without a type: nothing can be known of it. */
export function toLogEvent(entry: JsonObject): LogEvent | null {
  const type = text(entry["eventType"], 200);
  if (type === null) return null;
  const actor = object(entry["actor"]);
  return {
    uuid: text(entry["uuid"], 200),
    type,
    published: text(entry["published"], 100),
    outcome: text(object(entry["outcome"])["result"], 50),
    actor: {
      id: text(actor["id"]),
      type: text(actor["type"]),
      login: text(actor["alternateId"], maxActorLogin),
      name: text(actor["displayName"], maxActorName),
    },
    transactionId: text(object(entry["transaction"])["id"]),
    ipAddress: text(object(entry["client"])["ipAddress"], 100),
    targets: toTargets(entry["target"]),
  };
}

/** The log names every attempt; only what happened changes the configuration. An outcome that is missing counts as one. */
export function hasHappened({ outcome }: LogEvent): boolean {
  return outcome === null || outcome === "SUCCESS" || outcome === "ALLOW" || outcome === "UNKNOWN";
}

export function isApp(target: LogTarget): boolean {
  return isOf(target, /^AppInstance$/, "0oa");
}

/** Compares the type, and the id where the log names no type: ids of apps, log streams and identity providers begin alike. */
function isOf({ type, id }: LogTarget, types: RegExp, prefix: string): boolean {
  return type === null ? id.startsWith(prefix) : types.test(type);
}

const kinds: readonly ((target: LogTarget) => boolean)[] = [
  (target) => isOf(target, /Rule/, "0pr"),
  isApp,
  (target) => isOf(target, /^User$/, "00u"),
  (target) => isOf(target, /^UserGroup$/, "00g"),
];

/** The targets that an event changed: of a rule and its policy the rule, of an app and the policy that it is bound to the app. */
export function actedOn({ targets }: LogEvent): readonly LogTarget[] {
  for (const isOfKind of kinds) {
    const found = targets.filter(isOfKind);
    if (found.length > 0) return found;
  }
  return targets;
}

function toTargets(value: unknown): readonly LogTarget[] {
  if (!Array.isArray(value)) return [];
  return value
    .slice(0, maxTargets)
    .filter(isJsonObject)
    .flatMap((target) => {
      const id = text(target["id"], 200);
      if (id === null) return [];
      return [{ id, type: text(target["type"], 100), name: text(target["displayName"]) }];
    });
}

function object(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Bounded: ten thousand entries may come at once. */
function text(value: unknown, maxLength = 300): string | null {
  return typeof value === "string" && value !== "" ? shorten(value, maxLength) : null;
}
