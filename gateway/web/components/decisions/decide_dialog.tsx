import type { TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import {
  decisionSchema,
  type AttestedStatus,
  type Decision,
  type DecisionKind,
} from "../../../../shared/schemas/decision.ts";
import type { Api } from "../../model/api.ts";
import { checkTitle, ruleIds } from "../../model/check_catalog.ts";
import { toProblem } from "../../model/connection.ts";
import { toOrigin, toResource, type DecidedFinding } from "../../model/decisions/decision_index.ts";
import { decisionsPath } from "../../model/paths.ts";
import { formatOrg, toDay } from "../../model/format.ts";
import { parseResource } from "../../../../shared/client/rest_client.ts";
import { Button, Dialog, Problem } from "../basics.tsx";

/** The decision to make. */
export interface DecisionDraft {
  readonly kind: DecisionKind;
  readonly finding: DecidedFinding;
  readonly orgUrl: string | null;
}

interface DecideDialogProps extends DecisionDraft {
  readonly api: Api;
  readonly onDecided: (decision: Decision) => void;
  readonly onClose: () => void;
}

const dayMs = 86_400_000;
const presetDays = [30, 90, 365] as const;
const maxReasonLength = 2000;

const texts = {
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
export function DecideDialog(props: DecideDialogProps) {
  const { api, kind, finding, orgUrl, onDecided, onClose } = props;
  const resource = toResource(finding);
  const [isWhole, setWhole] = useState(resource === null);
  const [status, setStatus] = useState<AttestedStatus | "">("");
  const [reason, setReason] = useState("");
  const [expires, setExpires] = useState(() => toDay(api.nowMs() + presetDays[1] * dayMs));
  const [isForever, setForever] = useState(false);
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const { title, button, effect } = texts[kind];
  const name = finding.resource_name === "" ? "this resource" : finding.resource_name;

  async function submit(event: TargetedSubmitEvent<HTMLFormElement>, close: () => void): Promise<void> {
    event.preventDefault();
    if (!event.currentTarget.reportValidity()) return;
    setSending(true);
    setProblem(null);
    try {
      const about =
        kind === "attestation" ? (status === "" ? {} : { status }) : isWhole || resource === null ? {} : { resource };
      const body = { kind, check: finding.check, ...about, reason: reason.trim() };
      const terms = { expires: isForever ? "never" : expires, org_url: toOrigin(orgUrl) };
      const answer = await api.send("POST", decisionsPath, { body: { ...body, ...terms } });
      onDecided(parseResource(decisionSchema, answer));
      close();
    } catch (error) {
      setProblem(toProblem(error));
      setSending(false);
    }
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
                <input type="radio" name="scope" checked={!isWhole} onChange={() => setWhole(false)} />
                <span class="grow">{`Only ${name}`}</span>
              </label>
              <label class="row">
                <input type="radio" name="scope" checked={isWhole} onChange={() => setWhole(true)} />
                <span class="grow">Every finding of this check</span>
              </label>
            </fieldset>
          )}
          {kind === "attestation" && (
            <label class="stack strong">
              What you found
              <select
                required
                value={status}
                onChange={({ currentTarget }) => setStatus(currentTarget.value as AttestedStatus)}
              >
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
              rows={3}
              required
              maxLength={maxReasonLength}
              value={reason}
              onInput={({ currentTarget }) => {
                setReason(currentTarget.value);
                currentTarget.setCustomValidity(currentTarget.value.trim() === "" ? "Enter a reason" : "");
              }}
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
                min={toDay(api.nowMs())}
                max="9999-12-30"
                value={expires}
                aria-describedby="expires-note"
                onInput={({ currentTarget }) => setExpires(currentTarget.value)}
              />
              {presetDays.map((days) => {
                const day = toDay(api.nowMs() + days * dayMs);
                return (
                  <Button
                    key={days}
                    look="small"
                    label={`${days} days`}
                    disabled={isForever}
                    aria-pressed={expires === day}
                    onClick={() => setExpires(day)}
                  />
                );
              })}
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
            <button type="submit" class="button primary" disabled={isSending}>
              {isSending ? "Sending…" : button}
            </button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
