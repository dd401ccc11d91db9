import type { TargetedSubmitEvent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { decisionSchema, type Decision } from "../../../../shared/schemas/decision.ts";
import { originOf } from "../../../../shared/schemas/web_address.ts";
import { decisionsPath } from "../../model/api.ts";
import { checkTitle, ruleIds } from "../../model/check_catalog.ts";
import { keepDraft, keptDraft, toResource, type DecisionDraft } from "../../model/decisions/decision_index.ts";
import { dayMs, formatOrg, toDay } from "../../model/format.ts";
import type { Session } from "../../model/session.ts";
import { Button, Dialog, Problem, SessionEnd } from "../basics.tsx";
import { useAction } from "../hooks.ts";

interface DecideDialogProps extends DecisionDraft {
  readonly session: Session;
  readonly orgUrl: string | null;
  /** The person and the organization, who find the form again if the session ends. */
  readonly owner: string;
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
export function DecideDialog({ session, kind, finding, renewed, onDecided, onClose, ...shown }: DecideDialogProps) {
  const { api } = session;
  const own = toResource(finding);
  const { id: replaces, reason, resource: before, org_url: orgUrl = shown.orgUrl } = renewed ?? {};
  const resource = before ?? own;
  const dayIn = (days: number) => toDay(api.nowMs() + days * dayMs);
  const [first] = useState<Readonly<Record<string, string>>>(
    shown.typed ?? { scope: before === null ? "all" : "one", reason: reason ?? "", expires: dayIn(presetDays[1]) },
  );
  const [typed, setTyped] = useState(first);
  const { scope, status = "", expires = "" } = typed;
  const isForever = typed["forever"] !== undefined;
  useEffect(() => keepDraft(shown.owner, { kind, finding, renewed, typed }));
  const { isBusy, problem, run } = useAction();
  const { title, button, effect } = decisionTexts[kind];
  const name = resource === own ? finding.resource_name || "this resource" : resource;

  async function submit(event: TargetedSubmitEvent<HTMLFormElement>, close: () => void): Promise<void> {
    event.preventDefault();
    if (!event.currentTarget.reportValidity()) return;
    const body = {
      kind,
      check: finding.check,
      reason: typed["reason"]?.trim(),
      expires: isForever ? "never" : expires,
      org_url: orgUrl && originOf(orgUrl),
      ...(replaces !== undefined && { replaces }),
      ...(status !== "" && { status }),
      ...(scope === "one" && { resource }),
    };
    const isDone = await run(button.toLowerCase(), async (signal) =>
      onDecided(await api.ask("POST", decisionsPath, decisionSchema, { signal, body })),
    );
    if (isDone) close();
  }

  return (
    <Dialog
      titleId="decide-title"
      onClose={() => {
        keptDraft.json = "";
        onClose();
      }}
    >
      {(close) => (
        <form
          class="stack"
          noValidate
          // The form has no files, and leaves out a field that is disabled.
          onInput={({ currentTarget }) =>
            setTyped({ expires, ...(Object.fromEntries(new FormData(currentTarget)) as typeof typed) })
          }
          onSubmit={(event) => void submit(event, close)}
        >
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
                <input type="radio" name="scope" value="one" defaultChecked={first["scope"] === "one"} />
                <span class="grow">{`Only ${name}`}</span>
              </label>
              <label class="row">
                <input type="radio" name="scope" value="all" defaultChecked={first["scope"] === "all"} />
                <span class="grow">Every finding of this check</span>
              </label>
            </fieldset>
          )}
          {kind === "attestation" && (
            <label class="stack strong">
              What you found
              <select name="status" value={status} required>
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
              defaultValue={first["reason"]}
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
                name="expires"
                type="date"
                required
                disabled={isForever}
                min={dayIn(0)}
                max="9999-12-30"
                value={expires}
                aria-describedby="expires-note"
              />
              {presetDays.map((days) => (
                <Button
                  key={days}
                  look="small"
                  label={`${days} days`}
                  disabled={isForever}
                  aria-pressed={expires === dayIn(days)}
                  onClick={() => setTyped({ ...typed, expires: dayIn(days) })}
                />
              ))}
            </div>
            <label class="row">
              <input type="checkbox" name="forever" checked={isForever} />
              Never expires
            </label>
            <p id="expires-note" class="fine">
              In UTC. A decision that never expires holds until somebody withdraws it.
            </p>
          </div>
          <SessionEnd session={session} />
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
