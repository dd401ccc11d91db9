import type { Status } from "../../../shared/report.ts";
import { formatCount, formatStatus, statusWords } from "../model/format.ts";
import type { ScanStatus } from "../scan_wire.ts";

/** Drawn in `index.html`; decoration only: words beside it say the same. */
export type IconName =
  | "pass"
  | "fail"
  | "manual"
  | "chevron"
  | "search"
  | "back"
  | "close"
  | "alive"
  | "delayed"
  | "stale"
  | "blind"
  | "stopped";

/** From one thing to the list of all. */
export function BackLink() {
  return (
    <a class="back row strong" href="#/">
      <Icon name="back" />
      All scans
    </a>
  );
}

export function Icon({ name, tone = "" }: { readonly name: IconName; readonly tone?: string }) {
  return (
    <svg class={`icon icon-${name} ${tone}`.trim()} aria-hidden="true" focusable="false">
      <use href={`#icon-${name}`} />
    </svg>
  );
}

export const statuses: readonly Status[] = ["FAIL", "MANUAL", "PASS"];

/** The tones are in `styles/tones.css`. */
export const statusTones: Readonly<Record<Status, string>> = {
  FAIL: "tone-fail",
  MANUAL: "tone-manual",
  PASS: "tone-pass",
};

const statusIcons = { FAIL: "fail", MANUAL: "manual", PASS: "pass" } as const satisfies Record<Status, IconName>;

const scanTones: Readonly<Record<ScanStatus, string>> = {
  pending: "tone-none",
  running: "tone-accent",
  completed: "tone-pass",
  cancelled: "tone-manual",
  failed: "tone-fail",
  expired: "tone-fail",
};

export function StatusLabel({ status }: { readonly status: Status }) {
  return (
    <>
      <Icon name={statusIcons[status]} tone={`inked ${statusTones[status]}`} />
      {formatStatus(status)}
    </>
  );
}

export function StatusTag({ status }: { readonly status: Status }) {
  return (
    <span class={`tag row tinted ${statusTones[status]}`}>
      <StatusLabel status={status} />
    </span>
  );
}

export function ScanBadge({ status }: { readonly status: ScanStatus }) {
  return <span class={`badge tinted ${scanTones[status]}`}>{statusWords[status]}</span>;
}

/** Of checks. */
export function Tiles({ counts }: { readonly counts: Readonly<Record<Status, number>> }) {
  return (
    <dl class="tiles row wrap" aria-label="Checks by result">
      {statuses.map((status) => (
        <div key={status} class={`tile row tinted ${statusTones[status]}`}>
          <dt class="row">
            <StatusLabel status={status} />
          </dt>
          <dd>{formatCount(counts[status])}</dd>
        </div>
      ))}
    </dl>
  );
}

interface BarCounts {
  readonly pass: number;
  readonly fail: number;
  readonly manual: number;
  readonly checksTotal: number;
}

/** Decoration: the words below it say the same. */
export function MiniBar({ counts: { pass, fail, manual, checksTotal } }: { readonly counts: BarCounts }) {
  const rest = Math.max(0, checksTotal - pass - fail - manual);
  const sizes = { "tone-fail": fail, "tone-manual": manual, "tone-pass": pass, "tone-none": rest };
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
  /** Of its heading. */
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
