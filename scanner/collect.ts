import type { ArtifactName, Artifacts, CollectedArtifacts } from "./artifacts.ts";
import type { Check } from "./check.ts";
import type { CollectorContext } from "./collectors/collector.ts";
import { collectors } from "./collectors/collectors.ts";
import { createPolicyRules } from "./collectors/policies.ts";
import { withConcurrency } from "./collectors/with_concurrency.ts";
import type { IdpClient } from "./idp/idp_client.ts";

/** Fetches artifacts, each once, however many checks ask for it. */
export interface Collection {
  /** Resolves when everything named is in `artifacts()`; rejects only when the scan is aborted. */
  obtain(names: readonly ArtifactName[]): Promise<CollectedArtifacts>;
  /** All that one check needs, step by step: what it asks for only when the first has not decided comes last. */
  obtainFor(check: Check): Promise<CollectedArtifacts>;
  /** What is there now. */
  artifacts(): CollectedArtifacts;
}

export interface CollectionOptions {
  /** The selected checks, so that nothing is asked for twice in two ways. */
  readonly checks?: readonly Check[];
  /** Requests under way at one time; default 8. */
  readonly concurrency?: number;
  readonly signal?: AbortSignal;
}

export function createCollection(client: IdpClient, options: CollectionOptions = {}): Collection {
  const { checks = [], concurrency = 8, signal } = options;
  const started = new Map<ArtifactName, Promise<unknown>>();
  const collected: Partial<Record<ArtifactName, unknown>> = {};
  const needed = new Set(checks.flatMap((check) => check.artifacts));
  const limited = withConcurrency(client, concurrency);
  const context: CollectorContext = {
    client: limited,
    obtain: start,
    isFetchedAnyway: (name) => needed.has(name) || started.has(name),
    policyRules: createPolicyRules(limited),
  };

  return { obtain, obtainFor, artifacts };

  async function obtain(names: readonly ArtifactName[]): Promise<CollectedArtifacts> {
    await Promise.all(names.map((name) => start(name)));
    return artifacts();
  }

  async function obtainFor(check: Check): Promise<CollectedArtifacts> {
    await obtain(check.artifacts);
    for (;;) {
      const missing = check.further(artifacts()).filter((name) => !(name in collected));
      if (missing.length === 0) return artifacts();
      await obtain(missing);
    }
  }

  function start<Name extends ArtifactName>(name: Name): Promise<Artifacts[Name]> {
    const running = started.get(name) as Promise<Artifacts[Name]> | undefined;
    if (running !== undefined) return running;
    signal?.throwIfAborted();
    const fetching = collectors[name](context).then((artifact) => {
      collected[name] = artifact;
      return artifact;
    });
    started.set(name, fetching);
    return fetching;
  }

  /** A copy: an artifact that arrives later must not appear in what somebody is already judging. */
  function artifacts(): CollectedArtifacts {
    return { ...collected } as CollectedArtifacts;
  }
}
