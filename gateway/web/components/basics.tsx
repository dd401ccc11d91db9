import type { Status } from "../../../shared/report.ts";
import { statusWords } from "../model/format.ts";
import type { ScanStatus } from "../scan_wire.ts";

/** Drawn in `index.html`; decoration only: words beside it say the same. */
type IconName = "pass" | "fail" | "manual" | "chevron" | "search" | "back" | "close";

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class={`icon icon-${name}`} aria-hidden="true" focusable="false">
      <use href={`#icon-${name}`} />
    </svg>
  );
}

export const statuses: readonly Status[] = ["FAIL", "MANUAL", "PASS"];

/** Of icons and classes. */
export const statusIcons = { FAIL: "fail", MANUAL: "manual", PASS: "pass" } as const satisfies Record<Status, IconName>;

const statusNames: Readonly<Record<Status, string>> = { FAIL: "Fail", MANUAL: "Manual", PASS: "Pass" };

export function StatusLabel({ status }: { readonly status: Status }) {
  return (
    <>
      <Icon name={statusIcons[status]} />
      {statusNames[status]}
    </>
  );
}

export function StatusTag({ status }: { readonly status: Status }) {
  return (
    <span class={`tag tone-${statusIcons[status]}`}>
      <StatusLabel status={status} />
    </span>
  );
}

export function ScanBadge({ status }: { readonly status: ScanStatus }) {
  return <span class={`badge badge-${status}`}>{statusWords[status]}</span>;
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
    <div class="message">
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
