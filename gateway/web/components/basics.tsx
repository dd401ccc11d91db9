import type { StatusCounts } from "../../../shared/report.ts";
import { ruleStates, type RuleState } from "../../../shared/rule_result.ts";
import { useState } from "preact/hooks";
import { formatAgo, formatClock, formatCount, formatTime, stateNames, statusWords } from "../model/format.ts";
import type { ScanStatus } from "../scan_wire.ts";
import { useZone } from "./hooks.ts";

/** Drawn in `index.html`; decoration only: words next to it say the same. */
export type IconName = "pass" | "fail" | "manual" | "not-applicable" | "chevron" | "search" | "back" | "close";

/** From one thing to the list of all. */
export function BackLink() {
  return (
    <a class="back row strong" href="#/">
      <Icon name="back" />
      All organizations
    </a>
  );
}

interface TimeProps {
  readonly atMs: number;
  readonly isClockOnly?: boolean;
  /** By the gateway's clock: a time that is over by then is shown as an age. */
  readonly nowMs?: number;
}

/** A time with its day, year and zone, at least when it is pointed at. */
export function Time({ atMs, isClockOnly = false, nowMs = 0 }: TimeProps) {
  useZone();
  const full = formatTime(atMs);
  return (
    <time dateTime={new Date(atMs).toISOString()} title={full}>
      {isClockOnly ? formatClock(atMs) : atMs <= nowMs ? formatAgo(atMs, nowMs) : full}
    </time>
  );
}

/** Puts a text on the clipboard, and says that it did. */
export function CopyButton({ label, getText }: { readonly label: string; readonly getText: () => string }) {
  const [state, setState] = useState<"" | "Copied" | "Not copied">("");
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(getText());
      setState("Copied");
    } catch {
      // The browser allows it on encrypted pages only.
      setState("Not copied");
    }
  }
  return (
    <button type="button" class="button button-small" onClick={() => void copy()}>
      {label}
      <span role="status" class="fine">
        {state}
      </span>
    </button>
  );
}

export function Icon({ name, tone = "" }: { readonly name: IconName; readonly tone?: string }) {
  return (
    <svg class={`icon icon-${name} ${tone}`.trim()} aria-hidden="true" focusable="false">
      <use href={`#icon-${name}`} />
    </svg>
  );
}

/** The tones are in `styles/tones.css`. */
export const stateTones: Readonly<Record<RuleState, string>> = {
  fail: "tone-fail",
  manual: "tone-manual",
  pass: "tone-pass",
  not_applicable: "tone-not-applicable",
};

const stateIcons = {
  fail: "fail",
  manual: "manual",
  pass: "pass",
  not_applicable: "not-applicable",
} as const satisfies Record<RuleState, IconName>;

const scanTones: Readonly<Record<ScanStatus, string>> = {
  pending: "tone-none",
  running: "tone-accent",
  completed: "tone-pass",
  cancelled: "tone-manual",
  failed: "tone-fail",
  expired: "tone-fail",
};

export function StateLabel({ state }: { readonly state: RuleState }) {
  return (
    <>
      <Icon name={stateIcons[state]} tone={`inked ${stateTones[state]}`} />
      {stateNames[state]}
    </>
  );
}

export function StateTag({ state }: { readonly state: RuleState }) {
  return (
    <span class={`tag row tinted ${stateTones[state]}`}>
      <StateLabel state={state} />
    </span>
  );
}

export function ScanBadge({ status }: { readonly status: ScanStatus }) {
  return <span class={`badge tinted ${scanTones[status]}`}>{statusWords[status]}</span>;
}

/** Counts of rules. */
export function Tiles({ counts }: { readonly counts: StatusCounts }) {
  return (
    <dl class="tiles row wrap" aria-label="Rules by result">
      {ruleStates.map((state) => (
        <div key={state} class={`tile row tinted ${stateTones[state]}`}>
          <dt class="row">
            <StateLabel state={state} />
          </dt>
          <dd>{formatCount(counts[state])}</dd>
        </div>
      ))}
    </dl>
  );
}

interface BarCounts {
  readonly pass: number;
  readonly fail: number;
  readonly manual: number;
  readonly notApplicable: number;
  readonly checksTotal: number;
}

/** Decoration: the words below it say the same. */
export function MiniBar({ counts }: { readonly counts: BarCounts }) {
  const { pass, fail, manual, notApplicable, checksTotal } = counts;
  const rest = Math.max(0, checksTotal - pass - fail - manual - notApplicable);
  const sizes = {
    "tone-fail": fail,
    "tone-manual": manual,
    "tone-pass": pass,
    "tone-not-applicable": notApplicable,
    "tone-none": rest,
  };
  return (
    <span class="mini-bar" aria-hidden="true">
      {Object.entries(sizes).map(([tone, flexGrow]) => (
        <span key={tone} class={`filled ${tone}`} style={{ flexGrow: String(flexGrow) }} />
      ))}
    </span>
  );
}

/** Shown where there is nothing else to show, so that no state of the page is blank. */
export function Message(props: {
  readonly title: string;
  readonly text: string;
  readonly code?: string;
  readonly action?: { readonly label: string; readonly run: () => void };
  /** For its heading. */
  readonly level: 1 | 2 | 3;
}) {
  const Heading = `h${props.level}` as const;
  return (
    <div class="message stack">
      <Heading class="message-title">{props.title}</Heading>
      <p>{props.text}</p>
      {props.code !== undefined && (
        <pre>
          <code>{props.code}</code>
        </pre>
      )}
      {props.action !== undefined && (
        <button type="button" class="button button-primary" onClick={props.action.run}>
          {props.action.label}
        </button>
      )}
    </div>
  );
}

/** What reads a list's older entries, where it has some. */
export function MoreButton({
  list,
  label = "Load more",
}: {
  readonly list: { readonly hasMore: boolean; readonly isLoadingMore: boolean; readonly loadMore: () => void };
  readonly label?: string;
}) {
  if (!list.hasMore) return null;
  return (
    <button
      type="button"
      class="button button-quiet more"
      disabled={list.isLoadingMore}
      onClick={() => list.loadMore()}
    >
      {list.isLoadingMore ? "Loading…" : label}
    </button>
  );
}
