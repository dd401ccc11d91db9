import type { ComponentChild } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { countOf } from "../../../shared/outcome_text.ts";
import type { Severity } from "../../../shared/report.ts";
import { ruleStates } from "../../../shared/rule_result.ts";
import type { DecisionKind } from "../../../shared/schemas/decision.ts";
import { categoryNames } from "../../../shared/severity.ts";
import { ruleName } from "../model/check_catalog.ts";
import type { DecisionIndex } from "../model/decisions/decision_index.ts";
import type { DecisionStore } from "../model/decisions/decision_store.ts";
import {
  controlsOf,
  filterFindings,
  isFiltering,
  noFilter,
  type FindingOrder,
  type FindingsFilter,
} from "../model/findings_filter.ts";
import { formatCount } from "../model/format.ts";
import type { Finding } from "../model/scan_model.ts";
import { Icon, StateLabel } from "./basics.tsx";
import { FindingRow } from "./finding_row.tsx";
import type { useFindingAddress } from "./hooks.ts";

/** Rows are made for what can be looked at; scrolling to their end, or the button there, makes as many again. */
const rowsAtOnce = 100;

const severities: readonly Severity[] = ["high", "medium", "low"];

interface FindingsProps {
  readonly findings: ReadonlyMap<string, Finding>;
  /** Changes with the findings. */
  readonly frame: number;
  /** Where there are none. */
  readonly emptyText: string;
  readonly address: ReturnType<typeof useFindingAddress>;
  /** How the values were read; the same on each rendering. */
  readonly readText: string;
  /** A finding was opened, and may lack its details. */
  readonly onOpen: () => void;
  /** Shown below an open finding; the same function on each rendering. */
  readonly more?: ((finding: Finding) => ComponentChild) | undefined;
  readonly decisions: DecisionIndex;
  readonly decisionStore: DecisionStore;
  /** As `more`: the same function on each rendering. */
  readonly onDecide: ((kind: DecisionKind, finding: Finding) => void) | undefined;
}

export function Findings(props: FindingsProps) {
  const { findings, frame, emptyText, address, readText, onOpen, more, decisions, decisionStore, onDecide } = props;
  const { filter, setFilter, finding: opened, setFinding } = address;
  const { shown, stateCounts, severityCounts } = useMemo(
    () => filterFindings(findings.values(), filter),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the map changes in place: a frame says that it did
    [findings, frame, filter],
  );
  const controls = useMemo(
    () => [...new Set([...findings.values()].flatMap(({ check }) => controlsOf(check)))].toSorted(),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- as above
    [findings, findings.size],
  );
  const [linked] = useState(opened);
  const [extra, setExtra] = useState({ filter, rows: 0 });
  // Another filter begins with few rows again.
  const limit = Math.max(rowsAtOnce + (extra.filter === filter ? extra.rows : 0), positionOf(shown, linked) + 1);
  const change = (changed: Partial<FindingsFilter>) => setFilter({ ...filter, ...changed });
  const total = findings.size;
  const isFiltered = isFiltering(filter);

  return (
    <section class="card findings" id="findings" aria-labelledby="findings-title">
      <h2 id="findings-title">Findings</h2>
      <div class="filters row wrap" role="group" aria-label="Filter the findings">
        <div class="search row">
          <Icon name="search" />
          <label class="visually-hidden" for="finding-text">
            Filter by text
          </label>
          <input
            id="finding-text"
            type="search"
            placeholder="Filter by rule, title, resource or value"
            autocomplete="off"
            spellcheck={false}
            value={filter.text}
            onInput={(event) => change({ text: event.currentTarget.value })}
          />
        </div>
        <Chips
          name="Result"
          values={ruleStates}
          label={(state) => <StateLabel state={state} />}
          counts={stateCounts}
          chosen={filter.states}
          onChange={(chosen) => change({ states: chosen })}
        />
        <Chips
          name="Category"
          values={severities}
          label={(severity) => categoryNames[severity]}
          counts={severityCounts}
          chosen={filter.severities}
          onChange={(chosen) => change({ severities: chosen })}
        />
        {controls.length > 0 && (
          <select
            aria-label="NIST control"
            value={filter.control ?? ""}
            onChange={({ currentTarget: { value } }) => change({ control: value === "" ? null : value })}
          >
            <option value="">All controls</option>
            {controls.map((control) => (
              <option key={control}>{control}</option>
            ))}
          </select>
        )}
        <label class="visually-hidden" for="finding-order">
          Order
        </label>
        <select
          id="finding-order"
          value={filter.order}
          onChange={(event) => change({ order: event.currentTarget.value as FindingOrder })}
        >
          <option value="worst">Worst first</option>
          <option value="newest">Newest first</option>
          <option value="resource">By resource</option>
        </select>
      </div>
      {filter.check !== null && (
        <p class="check-filter row wrap text">
          {"Only "}
          <span>{ruleName(filter.check)}</span>
          <button
            type="button"
            class="button button-small"
            aria-label="Show the findings of all checks"
            onClick={() => change({ check: null })}
          >
            <Icon name="close" />
            All checks
          </button>
        </p>
      )}
      <div class="findings-bar row spread wrap note">
        <p role="status">{isFiltered ? `${formatCount(shown.length)} of ${toFindings(total)}` : toFindings(total)}</p>
        {isFiltered && (
          <button
            type="button"
            class="button button-small"
            onClick={() => setFilter({ ...noFilter, order: filter.order })}
          >
            Clear filters
          </button>
        )}
      </div>
      {decisionStore.problem !== null && (
        <div class="problem tinted tone-manual row wrap" role="alert">
          {`Decisions could not be read: ${decisionStore.problem}. ${decisionStore.isRead ? "The ones shown may be old." : "A waived finding looks like any other."}`}
          <button type="button" class="button button-small" onClick={() => decisionStore.invalidate()}>
            Try again
          </button>
        </div>
      )}
      <div>
        {shown.slice(0, limit).map((finding) => (
          <FindingRow
            key={finding.fingerprint}
            finding={finding}
            isLinked={finding.fingerprint === linked}
            readText={readText}
            onOpen={onOpen}
            onToggle={setFinding}
            more={more}
            decision={decisions.ofFinding(finding)}
            onDecide={onDecide}
          />
        ))}
      </div>
      {shown.length === 0 && (
        <p class="card-note note">{total > 0 ? "No finding matches these filters." : emptyText}</p>
      )}
      {shown.length > limit && (
        <ShowMore hiddenCount={shown.length - limit} onShow={() => setExtra({ filter, rows: limit })} />
      )}
    </section>
  );
}

/** -1: it is not shown. */
function positionOf(shown: readonly Finding[], linked: string | null): number {
  return linked === null ? -1 : shown.findIndex(({ fingerprint }) => fingerprint === linked);
}

function toFindings(count: number): string {
  return countOf(count, "finding").replace(/^\d+/, formatCount(count));
}

/** Choices of which none means all. */
function Chips<Value extends string>(props: {
  readonly name: string;
  readonly values: readonly Value[];
  readonly label: (value: Value) => ComponentChild;
  readonly counts: Readonly<Record<Value, number>>;
  readonly chosen: ReadonlySet<Value>;
  readonly onChange: (chosen: ReadonlySet<Value>) => void;
}) {
  return (
    <div class="chips" role="group" aria-label={props.name}>
      {props.values.map((value) => (
        <button
          key={value}
          type="button"
          class="chip row"
          aria-pressed={props.chosen.has(value)}
          onClick={() => props.onChange(toggle(props.chosen, value))}
        >
          {props.label(value)}
          <span class="chip-count">{formatCount(props.counts[value])}</span>
        </button>
      ))}
    </div>
  );
}

function toggle<Value>(chosen: ReadonlySet<Value>, value: Value): ReadonlySet<Value> {
  const toggled = new Set(chosen);
  if (!toggled.delete(value)) toggled.add(value);
  return toggled;
}

function ShowMore({ hiddenCount, onShow }: { readonly hiddenCount: number; readonly onShow: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  const show = useRef(onShow);
  show.current = onShow;
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) show.current();
      },
      { rootMargin: "600px" },
    );
    if (button.current !== null) observer.observe(button.current);
    return () => observer.disconnect();
  }, []);
  return (
    <button ref={button} type="button" class="button button-quiet more" onClick={onShow}>
      {`Show more (${formatCount(hiddenCount)} not shown yet)`}
    </button>
  );
}
