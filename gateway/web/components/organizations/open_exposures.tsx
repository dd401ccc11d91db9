import { useEffect, useState } from "preact/hooks";
import type { Api } from "../../model/api.ts";
import { checkTitle, ruleIds } from "../../model/check_catalog.ts";
import { toProblem } from "../../model/connection.ts";
import { formatDuration, formatTime } from "../../model/format.ts";
import { listOpenExposures, type Organization, type OrganizationExposure } from "../../organization_wire.ts";
import { useZone } from "../hooks.ts";

type View =
  | { readonly name: "loading" }
  | { readonly name: "failed"; readonly problem: string }
  | { readonly name: "read"; readonly exposures: readonly OrganizationExposure[] };

/** The rules that fail now, with since when and by whom. Read when it is opened. */
export function OpenExposures({ api, organization }: { readonly api: Api; readonly organization: Organization }) {
  const [isOpen, setOpen] = useState(false);
  const { id, fail: count } = organization;
  return (
    <details class="card exposures-card" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <h2>{`Open exposures (${count})`}</h2>
      </summary>
      {isOpen && <Exposures api={api} id={id} />}
    </details>
  );
}

function Exposures({ api, id }: { readonly api: Api; readonly id: string }) {
  useZone();
  const [view, setView] = useState<View>({ name: "loading" });
  useEffect(() => {
    const closing = new AbortController();
    listOpenExposures(api, id, closing.signal).then(
      (exposures) => setView({ name: "read", exposures }),
      (error: unknown) => {
        if (closing.signal.aborted) return;
        setView({ name: "failed", problem: toProblem(error) });
      },
    );
    return () => closing.abort();
  }, [api, id]);
  if (view.name === "loading") return <p role="status">Loading the exposures…</p>;
  if (view.name === "failed") return <p role="alert">{`The exposures could not be read: ${view.problem}`}</p>;
  if (view.exposures.length === 0) return <p class="note">No rule fails.</p>;
  return (
    <ul class="exposures stack">
      {view.exposures.map((exposure) => (
        <li key={exposure.check} class="text">
          <span class="fine">{`${ruleIds(exposure.check) || (exposure.vuln_id ?? "")} `}</span>
          {checkTitle(exposure.check)}
          <p class="fine">{toFacts(exposure)}</p>
        </li>
      ))}
    </ul>
  );
}

function toFacts({ opened, actor, least_seconds: least, most_seconds: most }: OrganizationExposure): string {
  const who = actor?.name ?? actor?.login ?? actor?.id ?? null;
  const length = `at least ${formatDuration(least * 1000)}, at most ${formatDuration(most * 1000)}`;
  return `Fails since ${formatTime(Date.parse(opened.known_at))}${who === null ? "" : ` by ${who}`}: ${length}`;
}
