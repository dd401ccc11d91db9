import type { HistoryActor } from "./schemas/history.ts";

/** Bounds of what is kept of a name and a login, in UTF-16 units: both together fit into the list of an event. */
export const maxActorName = 60;
export const maxActorLogin = 97;
export const maxActorText = maxActorName + maxActorLogin + " ()".length;

/** The name, else the login, else the id; null where the log has none of them. */
export function actorName(actor: HistoryActor | null): string | null {
  return actor?.name ?? actor?.login ?? actor?.id ?? null;
}

/** `Alex Admin (alex@acme.com)`: the name with the login, because two people may have one name; null where there is neither nor an id. */
export function actorText(actor: HistoryActor | null): string | null {
  const name = actorName(actor);
  return actor?.login && actor.login !== name ? `${name} (${actor.login})` : name;
}

/** The names of all, each once; with their logins where two people have one name. */
export function actorNames(actors: readonly (HistoryActor | null)[]): readonly string[] {
  const names = new Set(actors.flatMap((actor) => actorName(actor) ?? []));
  const texts = new Set(actors.flatMap((actor) => actorText(actor) ?? []));
  return [...(texts.size > names.size ? texts : names)];
}
