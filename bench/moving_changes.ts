import { createPracticeOrg, type PracticeOrg } from "../practice_org/create_practice_org.ts";
import { NotPossibleError } from "../practice_org/not_possible_error.ts";
import { settings } from "../practice_org/changes/org_changes.ts";
import type { LogEvent } from "../practice_org/log/log_events.ts";
import type { Connection } from "../scanner/okta/connection.ts";
import type { IdpRequest } from "../scanner/okta/idp_client.ts";
import { differences, freshVerdicts, type Verdicts } from "../test/support/followed_state.ts";

/** A change that moves a verdict of an org in which nothing else was changed, and the one that takes it back. */
export interface MovingPair {
  readonly away: MovingChange;
  readonly back: MovingChange;
}

export interface MovingChange {
  readonly name: string;
  /**
   * Requests whose answers are others than before, as far as checks read them, and those for what the log names as changed:
   * no follower needs fewer.
   */
  readonly fewestRequests: number;
}

interface Reading {
  readonly verdicts: Verdicts;
  /** By path. */
  readonly answers: ReadonlyMap<string, string>;
}

/** Tries each on a separate org, by whole scans. */
export async function findMovingPairs(): Promise<readonly MovingPair[]> {
  const org = await createPracticeOrg({
    profile: { name: "compliant" },
    role: "super",
    rateLimit: { perWindow: 1_000_000, buckets: {} },
  });
  try {
    const pairs: MovingPair[] = [];
    let before = await readOrg(org);
    for (const { changes } of settings) {
      const [away, back] = changes;
      let events: readonly LogEvent[];
      try {
        events = org.change(away.name);
      } catch (error) {
        if (!(error instanceof NotPossibleError)) throw error;
        continue;
      }
      const between = await readOrg(org);
      // A follower remembers what it read last, also where checks did not need it in between.
      const known = new Map(before.answers);
      const fewestAway = takeChanged(known, between, events);
      const eventsBack = org.change(back.name);
      const after = await readOrg(org);
      const fewestBack = takeChanged(known, after, eventsBack);
      const isMoving = [
        [before, between],
        [between, after],
      ].every(([one, other]) => one && other && differences(one.verdicts, other.verdicts).length > 0);
      if (isMoving) {
        pairs.push({
          away: { name: away.name, fewestRequests: fewestAway },
          back: { name: back.name, fewestRequests: fewestBack },
        });
      }
      before = after;
    }
    return pairs;
  } finally {
    await org.stop();
  }
}

async function readOrg(org: PracticeOrg): Promise<Reading> {
  const answers = new Map<string, string>();
  const verdicts = await freshVerdicts(org, (connection) => recording(connection, answers));
  return { verdicts, answers };
}

function recording(connection: Connection, answers: Map<string, string>): Connection {
  const { client } = connection;
  const keep = <Value>(request: IdpRequest, answer: Value): Value => {
    answers.set(request.path, JSON.stringify(answer));
    return answer;
  };
  return {
    ...connection,
    client: {
      getPage: (request) => client.getPage(request),
      getObject: async (request) => keep(request, await client.getObject(request)),
      getList: async (request) => keep(request, await client.getList(request)),
    },
  };
}

/** An app that changed is one request, however many lists hold it. */
function takeChanged(known: Map<string, string>, { answers }: Reading, events: readonly LogEvent[]): number {
  const changed = [...answers].filter(([path, answer]) => known.get(path) !== answer);
  for (const [path, answer] of changed) known.set(path, answer);
  const paths = changed.map(([path]) => (path.startsWith(`${appPath}?`) ? appPath : path));
  return new Set([...paths, ...namedPaths(answers, events)]).size;
}

const appPath = "/api/v1/apps";

/** For the objects that can change without what checks read of them: apps, and keys that were there before. */
function namedPaths(answers: ReadonlyMap<string, string>, events: readonly LogEvent[]): readonly string[] {
  return events
    .flatMap(({ target }) => target ?? [])
    .flatMap(({ type, id }) => {
      if (type === "AppInstance") return [appPath];
      const path = `/api/v1/idps/credentials/keys/${id ?? ""}`;
      return answers.has(path) ? [path] : [];
    });
}
