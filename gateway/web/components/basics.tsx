import type { ButtonHTMLAttributes, ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { countOf } from "../../../shared/outcome_text.ts";
import type { RuleState } from "../../../shared/rule_result.ts";
import { isLost, type Connection } from "../model/connection.ts";
import { formatAgo, formatClock, formatTime, stateNames, type ShownState } from "../model/format.ts";
import type { Session } from "../model/session.ts";
import { useTitle } from "./hooks.ts";

/** Drawn in `index.html`; decoration only: words next to it say the same. */
export function Icon({ name }: { readonly name: RuleState | "chevron" | "search" | "back" }) {
  return (
    <svg class={`icon icon-${name}`} aria-hidden="true" focusable="false">
      <use href={`#icon-${name}`} />
    </svg>
  );
}

/** From one thing to the list of all. */
export function BackLink() {
  return (
    <a class="back row" href="#/">
      <Icon name="back" />
      All organizations
    </a>
  );
}

const maxFolded = 200;

/** A time with its day, year and zone, at least when it is pointed at. One before `nowMs`, the gateway's time, is shown as an age. */
export function Time(props: { readonly atMs: number; readonly isClockOnly?: boolean; readonly nowMs?: number }) {
  const { atMs, isClockOnly = false, nowMs = 0 } = props;
  const full = formatTime(atMs);
  return (
    <time dateTime={new Date(atMs).toISOString()} title={full}>
      {isClockOnly ? formatClock(atMs) : atMs <= nowMs ? formatAgo(atMs, nowMs) : full}
    </time>
  );
}

interface ButtonProps extends Omit<ButtonHTMLAttributes, "class" | "label"> {
  readonly label: ComponentChildren;
  readonly look?: "small" | "small primary" | "primary" | "danger" | "more" | "quiet";
}

export function Button({ label, look, ...rest }: ButtonProps) {
  return (
    <button type="button" class={look === undefined ? "button" : `button ${look}`} {...rest}>
      {label}
    </button>
  );
}

/** One of a few, in one row. */
export function Segments<Value extends string | boolean | null>(props: {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly (readonly [value: Value, text: string])[];
  readonly choose: (value: Value) => void;
}) {
  return (
    <div class="segments" role="group" aria-label={props.label}>
      {props.options.map(([value, text]) => (
        <button key={text} type="button" aria-pressed={value === props.value} onClick={() => props.choose(value)}>
          {text}
        </button>
      ))}
    </div>
  );
}

/** A field that filters a list as it is typed into; `/` leads to it. */
export function SearchField(props: {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onText: (text: string) => void;
}) {
  return (
    <search class="search row grow">
      <Icon name="search" />
      <input
        type="search"
        aria-label={props.label}
        placeholder={`${props.placeholder}  /`}
        value={props.value}
        onInput={({ currentTarget }) => props.onText(currentTarget.value)}
      />
    </search>
  );
}

/** Says to everybody that a filter lets nothing through, and to screen readers how many it leaves. */
export function FilterOutcome(props: { readonly shown: number; readonly all: number; readonly noun: string }) {
  const { shown, all, noun } = props;
  return (
    <p class={shown === 0 ? "fine" : "visually-hidden outcome"} role="status">
      {shown === 0 ? `No ${noun} matches.` : shown < all && `${shown} of ${countOf(all, noun)}`}
    </p>
  );
}

/** The place of a problem; screen readers hear it when it comes. */
export function Problem({ text, id }: { readonly text: string | null; readonly id?: string }) {
  return (
    <p class="problem" id={id} role="alert">
      {text}
    </p>
  );
}

/** Puts a text on the clipboard, and says that it did. */
export function CopyButton({ label, getText }: { readonly label: string; readonly getText: () => string }) {
  const [state, setState] = useState("");
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
    <>
      <Button look="small" label={label} onClick={() => void copy()} />
      <span role="status" class="fine">
        {state}
      </span>
    </>
  );
}

/** The result as icon and word. Only a failure that counts as CAT I is in the strong color. */
export function StateMark({ state, isStrong = false }: { readonly state: ShownState; readonly isStrong?: boolean }) {
  return (
    <span class={`mark row state-${state}${isStrong ? " strong-fail" : ""}`}>
      <Icon name={state === "none" ? "not_applicable" : state} />
      {stateNames[state]}
    </span>
  );
}

/** Shown where there is nothing else to show, so that no state of the page is blank. */
export function Message(props: {
  readonly title: string;
  readonly text: string;
  readonly children?: ComponentChildren;
  /** Level of its heading. */
  readonly level: 1 | 2;
}) {
  const Heading = `h${props.level}` as const;
  return (
    <div class="message stack">
      <Heading>{props.title}</Heading>
      <p>{props.text}</p>
      {props.children}
    </div>
  );
}

/** A page for an address that leads to nothing; the tab says so, too. */
export function MissingPage(props: Omit<Parameters<typeof Message>[0], "level">) {
  useTitle(props.title);
  return (
    <>
      <BackLink />
      <Message level={1} {...props} />
    </>
  );
}

/** The first of a list of changes, and the others behind a line that counts them. */
export function Folded<Item>(props: {
  readonly items: readonly Item[];
  readonly row: (item: Item) => ComponentChildren;
  /** The number of the first ones. */
  readonly unfolded?: number;
  readonly label?: (count: number) => string;
}) {
  const { items, row, unfolded = 4, label = (count) => countOf(count, "more change") } = props;
  const others = items.slice(unfolded, maxFolded);
  const count = items.length - unfolded;
  return (
    <>
      {unfolded > 0 && <ol>{items.slice(0, unfolded).map(row)}</ol>}
      {others.length > 0 && (
        <details>
          <summary>{`${label(count)}${others.length < count ? `, of which ${others.length} are here` : ""}`}</summary>
          <ol>{others.map(row)}</ol>
        </details>
      )}
    </>
  );
}

/** A native dialog that is open as long as it is there. The browser keeps the focus inside, and gives it back. */
export function Dialog(props: {
  readonly titleId: string;
  readonly onClose: () => void;
  readonly children: (close: () => void) => ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} {...{ closedby: "any" }} aria-labelledby={props.titleId} onClose={props.onClose}>
      {props.children(() => dialog.current?.close())}
    </dialog>
  );
}

interface ConfirmProps extends Omit<ButtonProps, "label"> {
  readonly label: string;
  readonly title: string;
  readonly text: string;
  /** Label of the button that confirms. */
  readonly confirm: string;
  readonly onConfirm: () => void;
}

/** A button that asks before something is taken away for good. */
export function ConfirmButton({ title, text, confirm, onConfirm, ...button }: ConfirmProps) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button look="small" {...button} onClick={() => setAsking(true)} />
      {isAsking && (
        <Dialog titleId="confirm-title" onClose={() => setAsking(false)}>
          {(close) => (
            <div class="stack">
              <h2 id="confirm-title">{title}</h2>
              <p>{text}</p>
              <div class="row end">
                <Button label="Keep" onClick={close} />
                <Button
                  look="danger"
                  label={confirm}
                  onClick={() => {
                    close();
                    onConfirm();
                  }}
                />
              </div>
            </div>
          )}
        </Dialog>
      )}
    </>
  );
}

/** Says that the page is not connected, why, and when it tries again; nothing while it is. */
export function ConnectionNotice(props: { readonly connection: Connection; readonly retryNow: () => void }) {
  const { state, problem, retryAtMs } = props.connection;
  const isShown = isLost(props.connection);
  const seconds = retryAtMs === null ? null : Math.max(1, Math.ceil((retryAtMs - performance.now()) / 1000));
  const details = [problem, seconds === null ? null : `next try in ${seconds} s`].filter((part) => part !== null);
  return (
    <section class="connection notice row wrap" aria-label="Connection" data-state={state} hidden={!isShown}>
      <strong role="status">{isShown ? "not live" : state}</strong>
      <span>{details.join(" · ")}</span>
      {(state === "failed" || retryAtMs !== null) && <Button look="small" label="Try now" onClick={props.retryNow} />}
    </section>
  );
}

/** Some minutes before a session ends that cannot be renewed: what is open stays, and is open again afterwards. */
export function SessionEnd({ session }: { readonly session: Session }) {
  const { credential, caller } = session;
  const { endsAtMs } = credential;
  return (
    <p class="notice row wrap" role="status" hidden={endsAtMs === null}>
      {endsAtMs !== null && (
        <>
          <span>{`Your session ends at ${formatTime(endsAtMs)}. To continue, sign in again at the issuer.`}</span>
          <Button
            look="small primary"
            label="Sign in again"
            onClick={() => credential.signInAgain?.(caller.tenant?.id ?? null)}
          />
        </>
      )}
    </p>
  );
}
