import { toLine } from "../../shared/text.ts";
import {
  missing,
  type ArtifactName,
  type Artifacts,
  type CollectedArtifacts,
  type MissingEvidence,
  type ReadFact,
} from "./artifacts.ts";
import { artifactRequests } from "./artifact_requests.ts";
import type { Check } from "../checks/check.ts";
import type { OwnValues } from "../org_policy/document.ts";
import type { CollectorContext } from "./collectors/collector.ts";
import { collectors } from "./collectors/collectors.ts";
import { createPolicyRules } from "./collectors/policies.ts";
import type { IdpClient } from "../okta/idp_client.ts";

/** Fetches artifacts, each once, however many checks ask for it; the client bounds how many requests are under way. */
export interface Collection {
  /** Resolves when all of them are in `artifacts()`; rejects only when the scan is aborted. */
  obtain(names: readonly ArtifactName[]): Promise<CollectedArtifacts>;
  /** All that one check needs: its artifacts, then its conditional ones. */
  obtainFor(check: Check): Promise<CollectedArtifacts>;
  artifacts(): CollectedArtifacts;
  /** The same, each with where and when it was read. */
  readArtifacts(): CollectedArtifacts;
}

/** Is told of each artifact, and how long it took, by its own clock. */
export interface CollectionTrace {
  nowMs(): number;
  collected(artifact: ArtifactName, ms: number, outcome: "obtained" | MissingEvidence["reason"]): void;
}

export interface CollectionOptions {
  readonly signal?: AbortSignal;
  /** The organization's own values: the evidence that a check needs may depend on them. */
  readonly values?: OwnValues;
  readonly trace?: CollectionTrace | undefined;
  readonly now?: () => Date;
}

export function createCollection(client: IdpClient, options: CollectionOptions = {}): Collection {
  const { signal, values = {}, trace, now = () => new Date() } = options;
  const started = new Map<ArtifactName, Promise<unknown>>();
  const collected: Partial<Record<ArtifactName, object>> = {};
  const readAt = new Map<string, string>();
  const context: CollectorContext = {
    client,
    obtain: start,
    isRequested: (name) => started.has(name),
    policyRules: createPolicyRules(client),
  };

  return { obtain, obtainFor, artifacts, readArtifacts };

  async function obtain(names: readonly ArtifactName[]): Promise<CollectedArtifacts> {
    await Promise.all(names.map((name) => start(name)));
    return artifacts();
  }

  async function obtainFor(check: Check): Promise<CollectedArtifacts> {
    await obtain(check.artifacts);
    for (;;) {
      const missing = conditionalArtifacts(check, artifacts(), values).filter((name) => !(name in collected));
      if (missing.length === 0) return artifacts();
      await obtain(missing);
    }
  }

  function start<Name extends ArtifactName>(name: Name): Promise<Artifacts[Name]> {
    const running = started.get(name) as Promise<Artifacts[Name]> | undefined;
    if (running !== undefined) return running;
    const fetching = fetchArtifact(name);
    started.set(name, fetching);
    return fetching;
  }

  async function fetchArtifact<Name extends ArtifactName>(name: Name): Promise<Artifacts[Name]> {
    // A turn later, when the needs of every check are known: one list may then serve several collectors.
    await Promise.resolve();
    signal?.throwIfAborted();
    const startedAtMs = trace?.nowMs() ?? 0;
    const artifact = await collectors[name](context).catch((error: unknown) => {
      signal?.throwIfAborted();
      return notUnderstood(error);
    });
    collected[name] = artifact;
    readAt.set(name, now().toISOString());
    trace?.collected(name, trace.nowMs() - startedAtMs, outcomeOf(artifact));
    return artifact;
  }

  /** A copy, so that later artifacts do not appear in the input of a check that is being evaluated. */
  function artifacts(): CollectedArtifacts {
    return { ...collected } as CollectedArtifacts;
  }

  function readArtifacts(): CollectedArtifacts {
    const entries = Object.entries(collected).map(([name, artifact]) => {
      const read: ReadFact = { request: artifactRequests[name as ArtifactName], at: readAt.get(name) ?? "" };
      return [name, { ...artifact, read }];
    });
    return Object.fromEntries(entries) as CollectedArtifacts;
  }
}

function outcomeOf(artifact: unknown): "obtained" | MissingEvidence["reason"] {
  const { state, reason } = artifact as { readonly state?: string; readonly reason?: MissingEvidence["reason"] };
  return state === "missing" && reason !== undefined ? reason : "obtained";
}

/** A collector that fails on an unexpected answer costs the checks that need it their verdict, and no others. */
function notUnderstood(error: unknown): MissingEvidence<never> {
  const problem = error instanceof Error ? error.message : "unknown";
  return missing("unreadable", `The provider's answers about this are not understood (${toLine(problem, 200)}).`);
}

/** A check that fails here fails in `evaluate.ts` too, where that becomes its result. */
function conditionalArtifacts(check: Check, collected: CollectedArtifacts, values: OwnValues): readonly ArtifactName[] {
  try {
    // Judged by the STIG's values too, where the organization has its own.
    return [...new Set([...check.conditionalArtifacts(collected, values), ...check.conditionalArtifacts(collected)])];
  } catch {
    return [];
  }
}
