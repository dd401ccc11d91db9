import type { FollowedOrgPolicy } from "../org_policy/read_org_policy.ts";
import type { FailOn } from "../decisions/fail_on.ts";
import type { FollowedDecisions } from "../decisions/followed_decisions.ts";
import type { WatchLine } from "../../shared/schemas/history.ts";
import type { Clock } from "../okta/clock.ts";
import type { ScanParts, ScanPlan } from "../run_scan.ts";
import type { Settings } from "../settings/read_settings.ts";
import type { ChangeLine } from "./changes.ts";
import type { FollowedMonitor, MonitorPublisher } from "../streaming/monitor_publisher.ts";

/** `once` catches up from the saved cursor and ends; `untilClean` ends as soon as nothing fails. */
type FollowSettings = Pick<Settings, "intervalMs" | "reconcileMs" | "once" | "untilClean" | "withAddresses">;

export interface FollowPlan extends Omit<ScanPlan, "orgPolicy">, FollowSettings {
  /** The revision of the STIG that the checks are of. */
  readonly benchmark: string;
  readonly orgPolicy: FollowedOrgPolicy;
  readonly failOn: FailOn;
  /** Keeps the state. */
  readonly directory: string;
}

/** The I/O of a follower, which callers and tests provide. */
export interface FollowParts extends Pick<ScanParts, "connect" | "trace"> {
  readonly clock: Clock;
  readonly newId: () => string;
  readonly decisions: Pick<FollowedDecisions, "refresh" | "apply">;
  /** Changes, and in which time the log was read: at each gap, every ten minutes and at the end. */
  readonly write: (lines: readonly (ChangeLine | WatchLine)[]) => void;
  /** Lines that were written, but that the output's file does not have yet. */
  readonly unfiled?: () => readonly ChangeLine[];
  /** After a restart: every verdict, for a file that does not have those of before. */
  readonly writeState?: (lines: readonly ChangeLine[]) => void;
  /** A message for a person. */
  readonly say: (text: string) => void;
  /** Null: it is not streamed. */
  readonly openMonitor: ((followed: FollowedMonitor) => MonitorPublisher) | null;
}

/** `caught_up`: `--once` is done. `clean`: `--until-clean`, and nothing fails. `failed`: `--fail-on`, and a finding newly fails. */
export type FollowEnd = "interrupted" | "caught_up" | "clean" | "failed";
