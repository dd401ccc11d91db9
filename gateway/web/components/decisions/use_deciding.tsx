import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { endOfExpiry } from "../../../../shared/decisions/expiry.ts";
import type { Decision, DecisionKind } from "../../../../shared/schemas/decision.ts";
import type { Caller } from "../../caller_wire.ts";
import type { Api } from "../../model/api.ts";
import { mayDo } from "../../model/caller.ts";
import { indexDecisions } from "../../model/decisions/decision_index.ts";
import type { DecisionStore } from "../../model/decisions/decision_store.ts";
import type { Finding } from "../../model/scan_model.ts";
import { Announcement } from "../connection.tsx";
import { DecideDialog } from "./decide_dialog.tsx";
import { toVerb } from "./decision_words.tsx";

/** The longest that a timer of a browser waits. */
const maxTimerMs = 2 ** 31 - 1;

/** Changes when one of the decisions lapses: no event says so. */
function useLapses(api: Api, decisions: readonly Decision[]): number {
  const [lapsed, setLapsed] = useState(0);
  useEffect(() => {
    const ends = decisions.flatMap(({ expires }) => (expires === null ? [] : [endOfExpiry(expires) - api.nowMs() + 1]));
    const next = Math.min(...ends.filter((ms) => ms > 0));
    const timer = setTimeout(() => setLapsed(lapsed + 1), Math.min(next, maxTimerMs));
    return () => clearTimeout(timer);
  }, [api, decisions, lapsed]);
  return lapsed;
}

interface Deciding {
  readonly api: Api;
  readonly caller: Caller;
  readonly decisions: DecisionStore;
  readonly orgUrl: string | null;
  readonly findings: ReadonlyMap<string, Finding>;
}

/** What is decided about an organization's findings, and the dialog that decides more, next to scans and monitors alike. */
export function useDeciding({ api, caller, decisions, orgUrl, findings }: Deciding) {
  const [draft, setDraft] = useState<{ readonly kind: DecisionKind; readonly finding: Finding } | null>(null);
  /** For those who do not see that a badge appeared. */
  const [decided, setDecided] = useState("");
  const isDecided = useRef(false);
  const lapsed = useLapses(api, decisions.items);
  const index = useMemo(
    () => indexDecisions(decisions.items, { orgUrl, nowMs: api.nowMs() }),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- a decision that lapses is none from then on
    [api, decisions.items, orgUrl, lapsed],
  );
  const onDecide = useCallback((kind: DecisionKind, finding: Finding) => setDraft({ kind, finding }), []);
  useEffect(() => decisions.use(), [decisions]);

  function close({ fingerprint }: Finding): void {
    setDraft(null);
    if (!isDecided.current) return;
    isDecided.current = false;
    // The button that opened the dialog is gone with the decision, and the browser would go back to the top.
    const row = [...document.querySelectorAll<HTMLElement>(".finding")].find(
      ({ id }) => id === `finding-${fingerprint}`,
    );
    row?.querySelector("summary")?.focus();
  }

  const dialog = (
    <>
      <Announcement text={decided} />
      {draft !== null && (
        <DecideDialog
          api={api}
          {...draft}
          orgUrl={orgUrl}
          failing={
            [...findings.values()].filter(({ check, status }) => check === draft.finding.check && status === "FAIL")
              .length
          }
          onDecided={(decision) => {
            isDecided.current = true;
            decisions.put(decision);
            setDecided(`${toVerb(decision)}.`);
          }}
          onClose={() => close(draft.finding)}
        />
      )}
    </>
  );
  return { index, onDecide: mayDo(caller, "decide") && decisions.isRead ? onDecide : undefined, dialog };
}
