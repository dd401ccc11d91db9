import { ownValues } from "../org_policy/document.ts";
import type { CollectedArtifacts } from "../evidence/artifacts.ts";
import { firstRequests } from "../evidence/artifact_table.ts";
import { createCollection } from "../evidence/collect.ts";
import { createRememberedAnswers, type RememberedAnswers, type SavedAnswers } from "../evidence/remembered_answers.ts";
import type { Connection } from "../okta/connection.ts";
import type { IdpRequest, ListPage, PageReader, Reading } from "../okta/idp_client.ts";
import { attempt, IdpError } from "../okta/idp_error.ts";
import type { Engine } from "../../shared/report.ts";
import type { FollowParts, FollowPlan } from "./follow_plan.ts";
import type { LogEvent } from "./log_event.ts";
import { touchedBy } from "./touched.ts";
import type { Relevant } from "./verdicts.ts";

type FollowedOrgParts = Pick<FollowParts, "connect" | "clock" | "say" | "trace">;

/** The org as it was read last: the connection, the answers in memory, and what of them is invalid. */
export class FollowedOrg implements PageReader {
  readonly #plan: FollowPlan;
  readonly #parts: FollowedOrgParts;
  #connection: Connection | null = null;
  readonly #memory: RememberedAnswers;

  constructor(plan: FollowPlan, parts: FollowedOrgParts, saved: SavedAnswers) {
    this.#plan = plan;
    this.#parts = parts;
    this.#memory = createRememberedAnswers({ source: () => this.#client(), saved });
  }

  get engine(): Engine {
    return this.#connection?.org.engine ?? "unknown";
  }

  /** Rejects with `IdpError`. */
  async connect({ forgetsProbe }: { readonly forgetsProbe: boolean }): Promise<void> {
    const { signal, checks } = this.#plan;
    const probes = firstRequests(checks.flatMap((check) => check.artifacts));
    // The probe's answer serves a full scan that follows at once; later it would be an old one.
    const connection = await this.#parts.connect({ signal, probes, forgetsProbe, trace: this.#parts.trace });
    await this.#connection?.close();
    this.#connection = connection;
  }

  /** Other scopes may be granted by now, and tokens that were refused early are requested again. The old connection stays where it fails. */
  async reconnect(): Promise<void> {
    const error = await attempt(this.connect({ forgetsProbe: false }));
    if (error instanceof IdpError) this.#parts.say(`${error.message}. ${error.remedy}`);
  }

  getPage(request: IdpRequest): Promise<Reading<ListPage>> {
    return this.#client().getPage(request);
  }

  async close(): Promise<void> {
    await this.#connection?.close();
  }

  /** Makes invalid what the events touch: the next `collect` reads it again. */
  async invalidate(events: readonly LogEvent[]): Promise<readonly Relevant[]> {
    const touched = touchedBy(events, this.#memory);
    for (const { paths } of touched) this.#memory.forget(paths);
    const apps = touched.flatMap((found) => found.apps);
    if (apps.length > 0) await this.#memory.refreshApps(apps);
    return touched;
  }

  /** Makes invalid what could not be collected: the next `collect` reads it again. */
  invalidateFailed(): void {
    this.#memory.forget(this.#memory.failed());
  }

  /** Reads what is invalid; the rest is in memory. */
  async collect(): Promise<CollectedArtifacts> {
    const { checks, signal, orgPolicy } = this.#plan;
    const values = ownValues(orgPolicy.current(), new Date(this.#parts.clock.nowMs()).toISOString());
    const collection = createCollection(this.#memory, { signal, values, trace: this.#parts.trace });
    await Promise.all(checks.map((check) => collection.obtainFor(check)));
    return collection.artifacts();
  }

  /** Reads everything. */
  async collectAll(): Promise<void> {
    await this.#memory.renew(() => this.collect());
  }

  hasFailed(): boolean {
    return this.#memory.failed().length > 0;
  }

  toSave(): SavedAnswers {
    return this.#memory.saved();
  }

  #client(): Connection["client"] {
    if (this.#connection === null) throw new Error("Cannot read from the provider: there is no connection");
    return this.#connection.client;
  }
}
