import { toLine } from "../../shared/text.ts";
import {
  missing,
  type ArtifactName,
  type Artifacts,
  type CollectedArtifacts,
  type Evidence,
  type MissingEvidence,
} from "./artifacts.ts";
import { artifactTable, requestText } from "./artifact_table.ts";
import { artifactsReadBy, type Check } from "../checks/check.ts";
import type { OwnValues } from "../org_policy/document.ts";
import { collectors, createPartReader, evidenceOf, type CollectorContext, type NoteRequest } from "./collectors.ts";
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
  const parts = new Map<string, Promise<unknown>>();

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
    /** Those of this artifact, as people read them; true where one was answered. */
    const requests = new Map<string, boolean>();
    const artifact = await collect(name, contextOf(name, requests)).catch((error: unknown) => {
      signal?.throwIfAborted();
      return notUnderstood(error);
    });
    const answered = [...requests].flatMap(([request, isAnswered]) => (isAnswered ? [request] : []));
    const read = answered.length > 0 && { read: { request: answered.join(", "), at: now().toISOString() } };
    collected[name] = { ...artifact, ...read };
    const outcome = artifact.state === "missing" ? artifact.reason : artifact.state;
    trace?.collected(name, trace.nowMs() - startedAtMs, outcome);
    return artifact as Artifacts[Name];
  }

  function contextOf(artifact: ArtifactName, requests: Map<string, boolean>): CollectorContext {
    const note: NoteRequest = async (path, reading) => {
      const text = requestText(path);
      // In the order of the requests, and not of their answers.
      requests.set(text, requests.get(text) ?? false);
      const found = await reading;
      if (found.state === "obtained" || typeof found.refusal?.httpStatus === "number") requests.set(text, true);
      return found;
    };
    return {
      client: {
        getObject: (request) => note(request.path, client.getObject(request)),
        getList: (request) => note(request.path, client.getList(request)),
      },
      async obtain(name) {
        const other = await start(name);
        const read = collected[name]?.read;
        // Stands for the request of this artifact. An artifact without a request is made from others, which name theirs.
        if (read !== undefined && artifactTable[artifact].request !== null) requests.set(read.request, true);
        return other;
      },
      isRequested: (name) => started.has(name),
      parts: createPartReader(client, parts, note),
      readsLimits:
        values.orgPolicy?.api_tokens?.some(({ roles }) => roles.some((role) => role.includes(": "))) ?? false,
    };
  }

  /** Each with where and when it was read. A copy: later ones do not appear in it. */
  function artifacts(): CollectedArtifacts {
    return { ...collected } as CollectedArtifacts;
  }
}

async function collect(name: ArtifactName, context: CollectorContext): Promise<Evidence<unknown>> {
  const [collector, { request }] = [collectors[name], artifactTable[name]];
  if (collector !== undefined) return collector(context);
  if (request === null) throw new TypeError(`Cannot collect "${name}": it has no request and no collector`);
  return evidenceOf(await context.client.getList(request));
}

/** A collector that fails on an unexpected answer costs the checks that need it their verdict, and no others. */
function notUnderstood(error: unknown): MissingEvidence<never> {
  const problem = error instanceof Error ? error.message : "unknown";
  return missing("unreadable", `The provider's answers about this are not understood (${toLine(problem, 200)}).`);
}
