import type { CatalogCheck } from "../catalog/catalog.ts";
import type { FollowedOrgPolicy } from "../org_policy/read_org_policy.ts";
import type { FailOn } from "../decisions/fail_on.ts";
import type { WatchLine } from "../../shared/schemas/history.ts";
import type { CheckResult } from "../../shared/report.ts";
import type { Clock } from "../okta/clock.ts";
import type { Connection, ConnectOptions } from "../okta/connection.ts";
import type { ScanTrace } from "../run_scan.ts";
import type { ChangeLine } from "./changes.ts";
import type { FollowStore } from "./follow_state.ts";
import type { FollowedMonitor, MonitorPublisher } from "../streaming/monitor_publisher.ts";

export interface FollowPlan {
  readonly orgUrl: string;
  readonly clientId: string;
  readonly checks: readonly CatalogCheck[];
  /** The revision of the STIG that the checks are of. */
  readonly benchmark: string;
  readonly orgPolicy: FollowedOrgPolicy;
  readonly intervalMs: number;
  readonly reconcileMs: number;
  /** Catches up from the saved cursor and ends. */
  readonly once: boolean;
  /** Ends as soon as nothing fails. */
  readonly untilClean: boolean;
  readonly failOn: FailOn;
  readonly withAddresses: boolean;
  readonly signal: AbortSignal;
}

/** The I/O of a follower, which callers and tests provide. */
export interface FollowParts {
  /** Rejects with `IdpError` when the credentials cannot read. */
  readonly connect: (options: ConnectOptions) => Promise<Connection>;
  readonly store: FollowStore;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly decisions: DecisionsPort;
  readonly write: (lines: readonly ChangeLine[]) => void;
  /** Lines that were written, but that the output's file does not have yet. */
  readonly unfiled?: () => readonly ChangeLine[];
  /** After a restart: every verdict, for a file that does not have those of before. */
  readonly writeState?: (lines: readonly ChangeLine[]) => void;
  /** In which time the log was read: at each gap, each hour and at the end. */
  readonly writeWatched?: (line: WatchLine) => void;
  /** A message for a person. */
  readonly say: (text: string) => void;
  /** Null: it is not streamed. */
  readonly openMonitor: ((followed: FollowedMonitor) => MonitorPublisher) | null;
  readonly trace?: ScanTrace | undefined;
}

/** Waivers and attestations as they are at present. */
export interface DecisionsPort {
  /** Reads again what changed; true when others are in force than at the call before. */
  refresh(nowMs: number): Promise<boolean>;
  /** The results with the decisions on them. */
  apply(results: readonly CheckResult[], nowMs: number): readonly CheckResult[];
}

export type FollowEnd =
  | "interrupted"
  /** `--once` is done. */
  | "caught_up"
  /** `--until-clean`: nothing fails. */
  | "clean"
  /** `--fail-on`: a finding newly fails. */
  | "failed";
