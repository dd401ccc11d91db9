import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import type { Decision, DecisionKind } from "../../../../shared/schemas/decision.ts";
import type { Api } from "../../model/api.ts";
import { checkTitle, ruleIds } from "../../model/check_catalog.ts";
import { toProblem } from "../../model/connection.ts";
import { listDecisions, withdrawDecision, type DecisionStore } from "../../model/decisions/decision_store.ts";
import { findUnneeded } from "../../model/decisions/unneeded_waivers.ts";
import { formatTime } from "../../model/format.ts";
import type { Scan } from "../../scan_wire.ts";
import { BackLink, Message, MoreButton } from "../basics.tsx";
import { useTitle, useZone } from "../hooks.ts";
import { toScope, toUntil, toVerb } from "./decision_words.tsx";

interface DecisionsPageProps {
  readonly api: Api;
  readonly store: DecisionStore;
  /** The newest of each organization tells which waivers are not needed any more. */
  readonly scans: readonly Scan[];
  readonly mayDecide: boolean;
}

interface Filter {
  readonly active: boolean | null;
  readonly kind: DecisionKind | null;
}

/** Everything that was decided about findings, with what came of it. */
export function DecisionsPage({ api, store, scans, mayDecide }: DecisionsPageProps) {
  const [filter, setFilter] = useState<Filter>({ active: true, kind: null });
  const list = useDecisions(api, store, filter);
  const unneeded = useUnneeded(api, store, scans);
  const [problem, setProblem] = useState<string | null>(null);
  useZone();
  useTitle("Decisions");
  useLayoutEffect(() => scrollTo(0, 0), []);

  async function withdraw(decision: Decision): Promise<void> {
    setProblem(null);
    try {
      await withdrawDecision(api, decision, new AbortController().signal);
      store.put({ ...decision, state: "withdrawn" });
    } catch (error) {
      setProblem(toProblem(error));
    }
  }

  return (
    <article class="scan decisions" aria-labelledby="decisions-title">
      <header class="scan-head">
        <BackLink />
        <div class="scan-title row wrap">
          <h1 id="decisions-title">Decisions</h1>
        </div>
        <p class="scan-meta text">
          Waivers and attestations of this tenant. They apply to every later scan with{" "}
          <code>--decisions-from-gateway</code>.
        </p>
      </header>
      <div class="filters row wrap" role="group" aria-label="Filter the decisions">
        <select
          aria-label="State"
          value={String(filter.active)}
          onChange={({ currentTarget: { value } }) =>
            setFilter({ ...filter, active: value === "null" ? null : value === "true" })
          }
        >
          <option value="true">Active</option>
          <option value="false">Ended</option>
          <option value="null">All</option>
        </select>
        <select
          aria-label="Kind"
          value={filter.kind ?? ""}
          onChange={({ currentTarget: { value } }) =>
            setFilter({ ...filter, kind: value === "" ? null : (value as DecisionKind) })
          }
        >
          <option value="">Waivers and attestations</option>
          <option value="waiver">Waivers</option>
          <option value="attestation">Attestations</option>
        </select>
      </div>
      <p class="problem tinted tone-fail" role="alert">
        {problem ?? list.problem}
      </p>
      {list.items === null && list.problem === null && <p role="status">Loading…</p>}
      {list.items?.length === 0 && (
        <Message
          level={2}
          title="No decisions"
          text={
            mayDecide
              ? "Open a finding of a scan to waive it, or to attest its check."
              : "Waivers and attestations by operators and admins of this tenant appear here."
          }
        />
      )}
      <ul class="stack">
        {list.items?.map((decision) => (
          <DecisionRow
            key={decision.id}
            decision={decision}
            isUnneeded={unneeded.has(decision.id)}
            withdraw={mayDecide && decision.state === "active" ? () => void withdraw(decision) : null}
          />
        ))}
      </ul>
      <MoreButton list={list} />
    </article>
  );
}

function DecisionRow(props: {
  readonly decision: Decision;
  readonly isUnneeded: boolean;
  readonly withdraw: (() => void) | null;
}) {
  const { decision, isUnneeded, withdraw } = props;
  const { check, reason, by, expires, state, created_at: createdAt } = decision;
  const [isAsked, setAsked] = useState(false);
  return (
    <li class="card decision stack">
      <div class="row wrap">
        <span class={`badge tinted ${state === "active" ? "tone-accent" : "tone-none"}`}>{toVerb(decision)}</span>
        {state !== "active" && <span class="badge tinted tone-manual">{endWords[state]}</span>}
        {isUnneeded && <span class="badge tinted tone-pass">No longer needed</span>}
      </div>
      <h2>{checkTitle(check)}</h2>
      <p class="fine">{[ruleIds(check), toScope(decision)].filter(Boolean).join(" · ")}</p>
      <p class="decision-reason">{reason}</p>
      <div class="row spread wrap">
        <p class="fine">{`By ${by}, ${formatTime(Date.parse(createdAt))}${toUntil(expires)}${expires === null ? "" : " (UTC)"}`}</p>
        {withdraw !== null && (
          <button
            type="button"
            class={isAsked ? "button button-small inked tone-fail" : "button button-small"}
            onClick={() => (isAsked ? withdraw() : setAsked(true))}
            onBlur={() => setAsked(false)}
          >
            {isAsked ? "Confirm withdrawal" : "Withdraw"}
          </button>
        )}
        {decision.ended_at !== null && <p class="fine">{toEnd(decision)}</p>}
        {decision.ended_scan_id !== null && (
          <a class="button button-small" href={`#/scans/${decision.ended_scan_id}`}>
            Scan that contradicts it
          </a>
        )}
      </div>
    </li>
  );
}

const endWords = { withdrawn: "Withdrawn", contradicted: "Contradicted by a scan", expired: "Expired" } as const;

function toEnd({ ended_by: endedBy, ended_at: endedAt }: Decision): string {
  return `Ended${endedBy === null ? "" : ` by ${endedBy}`}, ${formatTime(Date.parse(endedAt ?? ""))}`;
}

interface DecisionList {
  /** Null: not read yet. */
  readonly items: readonly Decision[] | null;
  readonly problem: string | null;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  loadMore(): void;
}

/** The list by the filter, read again from its beginning whenever a decision of the tenant changed. */
function useDecisions(api: Api, store: DecisionStore, { active, kind }: Filter): DecisionList {
  const [items, setItems] = useState<readonly Decision[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [cursor, setCursor] = useState<string | null>(null);
  const [isLoadingMore, setLoadingMore] = useState(false);
  useEffect(() => store.use(), [store]);
  const { version } = store;
  const query = { ...(active === null ? {} : { active }), ...(kind === null ? {} : { kind }) };

  useEffect(() => {
    const closing = new AbortController();
    listDecisions(api, query, closing.signal).then(
      (page) => {
        setItems(page.items);
        setCursor(page.nextCursor);
        setProblem(null);
      },
      (error: unknown) => {
        if (!closing.signal.aborted) setProblem(toProblem(error));
      },
    );
    return () => closing.abort();
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the query is made of the filter, the version of what changed
  }, [api, active, kind, version]);

  async function readMore(): Promise<void> {
    setLoadingMore(true);
    try {
      const page = await listDecisions(api, { ...query, cursor }, new AbortController().signal);
      setItems([...(items ?? []), ...page.items]);
      setCursor(page.nextCursor);
    } catch (error) {
      setProblem(toProblem(error));
    }
    setLoadingMore(false);
  }

  return { items, problem, hasMore: cursor !== null, isLoadingMore, loadMore: () => void readMore() };
}

/** The ids of waivers that nothing open needs; none while that is not known. */
function useUnneeded(api: Api, store: DecisionStore, scans: readonly Scan[]): ReadonlySet<string> {
  const [unneeded, setUnneeded] = useState<ReadonlySet<string>>(new Set());
  const waivers = store.items.filter(({ kind }) => kind === "waiver");
  const newest = scans.filter(({ status }) => status === "completed").map(({ id }) => id);
  useEffect(() => {
    if (waivers.length === 0) return undefined;
    const closing = new AbortController();
    // Without it the list is shown as it is.
    findUnneeded(api, { waivers, scans }, closing.signal).then(setUnneeded, () => undefined);
    return () => closing.abort();
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the lists are made anew with each rendering
  }, [api, store.items, newest.join()]);
  return unneeded;
}
