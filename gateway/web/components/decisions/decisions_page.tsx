import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { union } from "valibot";
import { endOfExpiry, isExpired } from "../../../../shared/decisions/expiry.ts";
import { changeSchema } from "../../../../shared/schemas/change.ts";
import { decisionSchema, type Decision } from "../../../../shared/schemas/decision.ts";
import { storedFindingSchema } from "../../../../shared/schemas/finding.ts";
import { pageOf } from "../../../../shared/schemas/primitives.ts";
import { checkTitle, ruleIds } from "../../model/check_catalog.ts";
import { type Api, decisionsPath, toDecisionPath, toMonitorPath, toScanPath } from "../../model/api.ts";
import { toVerb } from "../../model/decisions/decision_index.ts";
import { formatDuration, formatOrg, formatTime, isolated } from "../../model/format.ts";
import { endsSoon } from "../../model/needs_you.ts";
import { mayDo, type Session } from "../../model/session.ts";
import type { Tenant } from "../../model/tenant_store.ts";
import { BackLink, ConfirmButton, Message, Problem, Segments } from "../basics.tsx";
import { useAction, useList, useTitle } from "../hooks.ts";

const maxEnded = 200;

/** Decisions about findings: the ones that hold by their end, and the ones that ended. */
export function DecisionsPage({ session, tenant }: { readonly session: Session; readonly tenant: Tenant }) {
  const { api, caller } = session;
  const [shown, setShown] = useState<"hold" | "ended">("hold");
  const { isBusy, problem, run } = useAction();
  const ended = useList(
    useCallback(
      async (signal) => {
        if (shown === "hold") return [];
        const path = `${decisionsPath}?active=false&limit=${maxEnded}`;
        return (await api.get(path, pageOf(decisionSchema), signal)).items;
      },
      [api, shown],
    ),
  );
  const now = api.nowMs();
  useTitle("Decisions");
  const holding = tenant.decisions
    .filter(({ expires }) => !isExpired(expires, now))
    .toSorted((a, b) => endMs(a) - endMs(b));
  const soon = holding.filter((decision) => endsSoon(decision, now)).length;
  const items = shown === "hold" ? holding : (ended.items ?? []);
  const names = useNames(api, tenant, items);

  const withdraw = (decision: Decision) =>
    run("withdraw the decision", async (signal) => {
      await api.send("DELETE", toDecisionPath(decision.id), { signal });
      tenant.put({ ...decision, state: "withdrawn" });
    });

  return (
    <article class="stack" aria-labelledby="decisions-title">
      <header class="head row wrap">
        <BackLink />
        <h1 id="decisions-title">Decisions</h1>
        <p class={`grow ${soon > 0 ? "strong" : "fine"}`} role="status">
          {soon > 0 ? `${soon} ${soon === 1 ? "ends" : "end"} within 14 days` : `${holding.length} hold`}
        </p>
        <Segments
          label="Show"
          value={shown}
          options={[
            ["hold", `hold ${holding.length}`],
            ["ended", "ended"],
          ]}
          choose={setShown}
        />
      </header>
      <Problem text={problem ?? ended.problem} />
      {items.length === 0 && (shown === "hold" || ended.items !== null) && (
        <Message
          level={2}
          title="No decisions"
          text={
            mayDo(caller, "decide")
              ? "Open a rule of an organization to waive one of its findings, or to attest the rule."
              : "Waivers and attestations by operators and admins of this tenant appear here."
          }
        />
      )}
      {items.length > 0 && (
        <table class="decisions">
          <caption class="visually-hidden">Decisions by the time at which they end</caption>
          <thead class="fine">
            <tr>
              <th scope="col">Ends</th>
              <th scope="col">Rule</th>
              <th scope="col">Resource</th>
              <th scope="col">Decision and reason</th>
              <td />
            </tr>
          </thead>
          <tbody>
            {items.map((decision) => (
              <tr key={decision.id} class="decision">
                <td data-label="Ends" class={decision.state === "active" && endsSoon(decision, now) ? "strong" : ""}>
                  {endText(decision)}
                  {decision.state === "active" && decision.expires !== null && (
                    <div class="fine">{`in ${formatDuration(endMs(decision) - now)}`}</div>
                  )}
                </td>
                <th scope="row">
                  <span class="fine">{ruleIds(decision.check)}</span>
                  <span class="decision-title">{checkTitle(decision.check)}</span>
                </th>
                <td data-label="Resource">
                  {resourceText(decision, names)}
                  <div class="fine">
                    {decision.org_url === null ? "every organization" : formatOrg(decision.org_url)}
                  </div>
                </td>
                <td data-label="Decision">
                  {`${toVerb(decision)} by ${isolated(decision.by)}: `}
                  <Linked text={decision.reason} />
                </td>
                <td>
                  {decision.state === "active" && mayDo(caller, "decide") && (
                    <ConfirmButton
                      label="Withdraw"
                      disabled={isBusy}
                      title="Withdraw this decision?"
                      text={`${checkTitle(decision.check)}. The next scan with --decisions-from-gateway judges it by what it finds.`}
                      confirm="Withdraw"
                      onConfirm={() => void withdraw(decision)}
                    />
                  )}
                  {decision.ended_scan_id !== null && <a href={`#/scans/${decision.ended_scan_id}`}>scan</a>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {items.length === maxEnded && <p class="fine">{`These are the newest ${maxEnded}.`}</p>}
    </article>
  );
}

function endMs({ expires }: Decision): number {
  return expires === null ? Number.POSITIVE_INFINITY : endOfExpiry(expires);
}

const endWords = { expired: "expired", withdrawn: "withdrawn", contradicted: "contradicted by a scan", active: "" };

function endText(decision: Decision): string {
  const { state, expires, ended_at: endedAt, ended_by: endedBy } = decision;
  if (state !== "active") {
    // One that expired has no other end.
    const when = formatTime(endedAt === null ? endMs(decision) : Date.parse(endedAt));
    return `${endWords[state]} ${when}${endedBy === null ? "" : ` by ${endedBy}`}`;
  }
  return expires ?? "never";
}

/** The name that a run gives the resource; else what was decided about it. */
function resourceText({ resource, kind }: Decision, names: ReadonlyMap<string, string>): string {
  if (resource === null) return kind === "waiver" ? "every finding" : "the whole rule";
  const plain = resource.replaceAll(/\\([*?\\])/g, "$1");
  return names.get(plain) || plain;
}

/** Names of resources by their ids, as the monitor or the last scan has them of each organization that was decided about. */
function useNames(api: Api, { organizations }: Tenant, decisions: readonly Decision[]): ReadonlyMap<string, string> {
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map());
  const [done] = useState(() => new Set<string>());
  const decided = new Set(decisions.flatMap(({ resource, org_url: url }) => (resource === null ? [] : [url])));
  const ofDecided = organizations.filter(({ org_url: url }) => decided.has(url));
  const runs = ofDecided.flatMap(({ monitor_id: monitorId, last_scan_id: scanId }) =>
    monitorId !== null ? toMonitorPath(monitorId) : scanId !== null ? toScanPath(scanId) : [],
  );
  const wanted = runs.toSorted().join(" ");
  useEffect(() => {
    const closing = new AbortController();
    async function read(run: string): Promise<void> {
      const found = await api.list(`${run}/findings`, union([changeSchema, storedFindingSchema]), closing);
      const named = found.map((one) =>
        "resource" in one ? one.resource : { id: one.resource_id, name: one.resource_name },
      );
      done.add(run);
      setNames((before) => new Map([...before, ...named.map(({ id, name }) => [id, name] as const)]));
    }
    // One after the other: there may be hundreds. Without a name, the id stands for the resource.
    let last = Promise.resolve();
    const left = wanted.split(" ").filter((run) => run !== "" && !done.has(run));
    for (const run of left) last = last.then(() => read(run)).catch(() => undefined);
    return () => closing.abort();
  }, [api, done, wanted]);
  return names;
}

/** A text in which the addresses of tickets are links. */
function Linked({ text }: { readonly text: string }): ComponentChildren {
  return text.split(/(https?:\/\/[^\s<>"]+)/).map((part, index) =>
    index % 2 === 1 && URL.canParse(part) ? (
      <a key={index} href={part} rel="noreferrer noopener" target="_blank">
        {part}
      </a>
    ) : (
      part
    ),
  );
}
