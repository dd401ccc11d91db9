import type { TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import { decisionSchema, type Decision, type DecisionKind } from "../../../../shared/schemas/decision.ts";
import { originOf } from "../../../../shared/schemas/web_address.ts";
import { type Api, decisionsPath } from "../../model/api.ts";
import { checkTitle, ruleIds } from "../../model/check_catalog.ts";
import { toResource, type DecidedFinding } from "../../model/decisions/decision_index.ts";
import type { KnownDecision } from "../../model/finding.ts";
import { dayMs, formatOrg, toDay } from "../../model/format.ts";
import { Button, Dialog, Problem } from "../basics.tsx";
import { useAction } from "../hooks.ts";

/** The decision to make. */
export interface DecisionDraft {
  readonly kind: DecisionKind;
  readonly finding: DecidedFinding;
  /** The decision that the new one replaces; null: none. */
  readonly renewed: KnownDecision | null;
}

interface DecideDialogProps extends DecisionDraft {
  readonly api: Api;
  readonly orgUrl: string | null;
  readonly onDecided: (decision: Decision) => void;
  readonly onClose: () => void;
}

const presetDays = [30, 90, 365] as const;

export const decisionTexts = {
  waiver: {
    title: "Waive a finding",
    button: "Waive",
    effect: "show it as waived, with its status, and do not fail because of it.",
  },
  attestation: {
    title: "Attest a check",
    button: "Attest",
    effect:
      "use your answer for the whole check where the API cannot decide. A scan that finds a failure ends the attestation.",
  },
} as const;

/** Asks for the reason and the end of a decision; what was typed stays until the gateway has taken it. */
export function DecideDialog({ api, kind, finding, renewed, onDecided, onClose, ...shown }: DecideDialogProps) {
  const own = toResource(finding);
  const { id: replaces, reason, resource: before, org_url: orgUrl = shown.orgUrl } = renewed ?? {};
  const resource = before ?? own;
  const dayIn = (days: number) => toDay(api.nowMs() + days * dayMs);
  const [expires, setExpires] = useState(() => dayIn(presetDays[1]));
  const [isForever, setForever] = useState(false);
  const { isBusy, problem, run } = useAction();
  const { title, button, effect } = decisionTexts[kind];
  const name = resource === own ? finding.resource_name || "this resource" : resource;

  async function submit(event: TargetedSubmitEvent<HTMLFormElement>, close: () => void): Promise<void> {
    event.preventDefault();
    if (!event.currentTarget.reportValidity()) return;
    const given = new FormData(event.currentTarget);
    const textOf = (field: string) => [given.get(field)].find((value) => typeof value === "string") ?? "";
    const status = textOf("status");
    const body = {
      kind,
      check: finding.check,
      reason: textOf("reason").trim(),
      expires: isForever ? "never" : expires,
      org_url: orgUrl && originOf(orgUrl),
      ...(replaces !== undefined && { replaces }),
      ...(status !== "" && { status }),
      ...(textOf("scope") === "one" && { resource }),
    };
    const isDone = await run(button.toLowerCase(), async (signal) =>
      onDecided(await api.ask("POST", decisionsPath, decisionSchema, { signal, body })),
    );
    if (isDone) close();
  }

  return (
    <Dialog titleId="decide-title" onClose={onClose}>
      {(close) => (
        <form class="stack" noValidate onSubmit={(event) => void submit(event, close)}>
          <h2 id="decide-title">{title}</h2>
          <p class="strong">{`${ruleIds(finding.check)} ${checkTitle(finding.check)}`}</p>
          <p class="fine">
            {`Later scans of ${orgUrl === null ? "every organization" : formatOrg(orgUrl)} with `}
            <code>--decisions-from-gateway</code>
            {` ${effect}`}
          </p>
          {kind === "waiver" && resource !== null && (
            <fieldset class="stack">
              <legend class="strong">Scope</legend>
              <label class="row">
                <input type="radio" name="scope" value="one" defaultChecked={before !== null} />
                <span class="grow">{`Only ${name}`}</span>
              </label>
              <label class="row">
                <input type="radio" name="scope" value="all" defaultChecked={before === null} />
                <span class="grow">Every finding of this check</span>
              </label>
            </fieldset>
          )}
          {kind === "attestation" && (
            <label class="stack strong">
              What you found
              <select name="status" required>
                <option value="">Choose what you found</option>
                <option value="PASS">Pass: the rule is met</option>
                <option value="NOT_APPLICABLE">Not applicable here</option>
                <option value="FAIL">Fail: the rule is not met</option>
              </select>
            </label>
          )}
          <label class="stack strong">
            Reason
            <textarea
              name="reason"
              rows={3}
              defaultValue={reason ?? ""}
              required
              onInput={({ currentTarget }) =>
                currentTarget.setCustomValidity(currentTarget.value.trim() === "" ? "Enter a reason" : "")
              }
            />
          </label>
          <div class="stack" role="group" aria-label="How long">
            <label class="strong" for="decide-expires">
              Until the end of
            </label>
            <div class="row wrap">
              <input
                id="decide-expires"
                type="date"
                required
                disabled={isForever}
                min={dayIn(0)}
                max="9999-12-30"
                value={expires}
                aria-describedby="expires-note"
                onInput={({ currentTarget }) => setExpires(currentTarget.value)}
              />
              {presetDays.map((days) => (
                <Button
                  key={days}
                  look="small"
                  label={`${days} days`}
                  disabled={isForever}
                  aria-pressed={expires === dayIn(days)}
                  onClick={() => setExpires(dayIn(days))}
                />
              ))}
            </div>
            <label class="row">
              <input
                type="checkbox"
                checked={isForever}
                onChange={({ currentTarget }) => setForever(currentTarget.checked)}
              />
              Never expires
            </label>
            <p id="expires-note" class="fine">
              In UTC. A decision that never expires holds until somebody withdraws it.
            </p>
          </div>
          <Problem text={problem} />
          <div class="row end">
            <Button label="Cancel" onClick={close} />
            <Button type="submit" look="primary" label={isBusy ? "Sending…" : button} disabled={isBusy} />
          </div>
        </form>
      )}
    </Dialog>
  );
}
