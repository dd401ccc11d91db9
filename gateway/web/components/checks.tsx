import { ruleStates } from "../../../shared/rule_result.ts";
import type { Decision } from "../../../shared/schemas/decision.ts";
import { categoryNames } from "../../../shared/severity.ts";
import { checkTitle, findCheck } from "../model/check_catalog.ts";
import type { DecisionIndex } from "../model/decisions/decision_index.ts";
import { formatCount } from "../model/format.ts";
import type { CheckState } from "../model/scan_model.ts";
import { StateTag } from "./basics.tsx";
import type { useFindingAddress } from "./hooks.ts";
import { toVerb } from "./decisions/decision_words.tsx";

/** Shows the findings of one check, or of all again. */
export function chooseRule({ filter, setFilter }: ReturnType<typeof useFindingAddress>, check: string): void {
  setFilter({ ...filter, check: check === filter.check ? null : check });
  document.getElementById("findings")?.scrollIntoView({ block: "start" });
}

interface ChecksProps {
  readonly checks: readonly CheckState[];
  /** Else in the order in which they finished. */
  readonly isWorstFirst: boolean;
  /** About checks that are not in the list; may be empty. */
  readonly note: string;
  /** The check whose findings alone are shown. */
  readonly chosen: string | null;
  readonly choose: (check: string) => void;
  readonly decisions: DecisionIndex;
}

export function Checks({ checks, isWorstFirst, note, chosen, choose, decisions }: ChecksProps) {
  const sorted = checks.toSorted(isWorstFirst ? byWorst : (a, b) => a.order - b.order);
  return (
    <section class="card checks" aria-labelledby="checks-title">
      <h2 id="checks-title">Checks</h2>
      <table class="checks-table" hidden={checks.length === 0}>
        <caption class="visually-hidden">
          Finished checks with their result. A check's button shows only its findings.
        </caption>
        <thead>
          <tr class="fine">
            <th scope="col">Result</th>
            <th scope="col">Check</th>
            <th scope="col">Findings</th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((state) => (
            <CheckRow
              key={state.check}
              state={state}
              isChosen={state.check === chosen}
              choose={choose}
              attestation={state.state === "fail" ? null : decisions.attestationOf(state.check)}
            />
          ))}
        </tbody>
      </table>
      {note !== "" && <p class="card-note note">{note}</p>}
    </section>
  );
}

function CheckRow(props: {
  readonly state: CheckState;
  readonly isChosen: boolean;
  readonly choose: (check: string) => void;
  readonly attestation: Decision | null;
}) {
  const { check, state, severity, findingCount } = props.state;
  const info = findCheck(check);
  const category = severity ?? info?.severity;
  const facts = [info?.vulnId, category === undefined ? undefined : categoryNames[category], info?.stigId].filter(
    (part) => part !== undefined,
  );
  return (
    <tr class="fresh">
      <td>
        <StateTag state={state} />
      </td>
      <th scope="row">
        <button type="button" class="check-button" aria-pressed={props.isChosen} onClick={() => props.choose(check)}>
          <span class="check-title">{checkTitle(check)}</span>
          <span class="fine one-line">{facts.length === 0 ? check : facts.join(" · ")}</span>
          {props.attestation !== null && (
            <span class="fine">{`${toVerb(props.attestation)} by ${props.attestation.by}`}</span>
          )}
        </button>
      </th>
      <td>{formatCount(findingCount)}</td>
    </tr>
  );
}

const rank = { high: 0, medium: 1, low: 2 } as const;

function byWorst(a: CheckState, b: CheckState): number {
  return (
    ruleStates.indexOf(a.state) - ruleStates.indexOf(b.state) ||
    rank[a.severity ?? "medium"] - rank[b.severity ?? "medium"] ||
    a.order - b.order
  );
}
