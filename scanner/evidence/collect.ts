import { toLine } from "../../shared/text.ts";
import {
  missing,
  type ArtifactName,
  type Artifacts,
  type CollectedArtifacts,
  type Evidence,
  type JsonList,
  type MissingEvidence,
} from "./artifacts.ts";
import { artifactTable, requestsText } from "./artifact_table.ts";
import { artifactsReadBy, type Check } from "../checks/check.ts";
import type { OwnValues } from "../org_policy/document.ts";
import { collectors, createPartReader, evidenceOf, type CollectorContext } from "./collectors.ts";
import type { IdpClient } from "../okta/idp_client.ts";

/** Callback for each artifact and how long it took, by its own clock. */
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

/** Fetches artifacts, each once, however many checks ask for it; the client bounds how many requests are under way. */
export function createCollection(client: IdpClient, options: CollectionOptions = {}) {
  const { signal, values = {}, trace, now = () => new Date() } = options;
  const started = new Map<ArtifactName, Promise<unknown>>();
  const collected: Partial<Record<ArtifactName, Evidence<unknown>>> = {};
  const context: CollectorContext = {
    client,
    obtain: start,
    isRequested: (name) => started.has(name),
    parts: createPartReader(client),
  };

  return { obtain, obtainFor, artifacts };

  /** Resolves when all of them are in `artifacts()`; rejects only when the scan is aborted. */
  async function obtain(names: readonly ArtifactName[]): Promise<CollectedArtifacts> {
    await Promise.all(names.map((name) => start(name)));
    return artifacts();
  }

  /** All that one check needs: its artifacts, then its conditional ones. */
  async function obtainFor(check: Check): Promise<CollectedArtifacts> {
    for (;;) {
      const missing = artifactsReadBy(check, artifacts(), values).filter((name) => !(name in collected));
      if (missing.length === 0) return artifacts();
      await obtain(missing);
    }
  }

  function start<Name extends ArtifactName>(name: Name): Promise<Artifacts[Name]> {
    const fetching = (started.get(name) as Promise<Artifacts[Name]> | undefined) ?? fetchArtifact(name);
    started.set(name, fetching);
    return fetching;
  }

  async function fetchArtifact<Name extends ArtifactName>(name: Name): Promise<Artifacts[Name]> {
    // A turn later, when the needs of every check are known: one list may then serve several collectors.
    await Promise.resolve();
    signal?.throwIfAborted();
    const startedAtMs = trace?.nowMs() ?? 0;
    const artifact = await (collectors[name]?.(context) ?? collectList(name)).catch((error: unknown) => {
      signal?.throwIfAborted();
      return notUnderstood(error);
    });
    collected[name] = { ...artifact, read: { request: requestsText(name), at: now().toISOString() } };
    const outcome = artifact.state === "missing" ? artifact.reason : artifact.state;
    trace?.collected(name, trace.nowMs() - startedAtMs, outcome);
    return artifact as Artifacts[Name];
  }

  async function collectList(name: ArtifactName): Promise<Evidence<JsonList>> {
    const { request } = artifactTable[name];
    if (request === null) throw new TypeError(`Cannot collect "${name}": it has no request and no collector`);
    return evidenceOf(await client.getList(request));
  }

  /** Each with where and when it was read. A copy: later ones do not appear in it. */
  function artifacts(): CollectedArtifacts {
    return { ...collected } as CollectedArtifacts;
  }
}

/** A collector that fails on an unexpected answer costs the checks that need it their verdict, and no others. */
function notUnderstood(error: unknown): MissingEvidence<never> {
  const problem = error instanceof Error ? error.message : "unknown";
  return missing("unreadable", `The provider's answers about this are not understood (${toLine(problem, 200)}).`);
}
