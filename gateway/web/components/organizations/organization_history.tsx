import { useEffect, useState } from "preact/hooks";
import type { Api } from "../../model/api.ts";
import { checkTitle, findCheck } from "../../model/check_catalog.ts";
import { toProblem } from "../../model/connection.ts";
import { formatDuration, formatTime } from "../../model/format.ts";
import { readHistory, type Organization, type RuleHistory } from "../../organization_wire.ts";
import { useZone } from "../hooks.ts";

const dayMs = 86_400_000;
const shownDays = 365;

type View =
  | { readonly name: "loading" }
  | { readonly name: "failed"; readonly problem: string }
  | { readonly name: "read"; readonly rules: readonly RuleHistory[] };

/** The year of an organization: open exposures, and a calendar for each rule. Read when it is opened. */
export function OrganizationHistory({ api, organization }: { readonly api: Api; readonly organization: Organization }) {
  const [isOpen, setOpen] = useState(false);
  const { open_exposures: open } = organization;
  return (
    <details class="card history-card" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <h2>{`History and exposures (${open} open)`}</h2>
      </summary>
      {isOpen && <Year api={api} id={organization.id} />}
    </details>
  );
}

function Year({ api, id }: { readonly api: Api; readonly id: string }) {
  useZone();
  const [view, setView] = useState<View>({ name: "loading" });
  useEffect(() => {
    const closing = new AbortController();
    const from = new Date(api.nowMs() - (shownDays - 1) * dayMs).toISOString();
    readHistory(api, id, { from, signal: closing.signal }).then(
      (rules) => setView({ name: "read", rules }),
      (error: unknown) => {
        if (closing.signal.aborted) return;
        setView({ name: "failed", problem: toProblem(error) });
      },
    );
    return () => closing.abort();
  }, [api, id]);
  if (view.name === "loading") return <p role="status">Loading the history…</p>;
  if (view.name === "failed") return <p role="alert">{`The history could not be read: ${view.problem}`}</p>;
  if (view.rules.length === 0) return <p class="note">There is no history yet.</p>;
  const worst = view.rules.toSorted((a, b) => failingDays(b) - failingDays(a));
  return (
    <>
      <p class="note">
        Each square is a day (UTC), in the color of its worst known result. Days without a scan or a monitor stay empty.
      </p>
      <ul class="years stack">
        {worst.map((rule) => (
          <li key={rule.check} class="year stack">
            <span class="text">
              <span class="fine">{`${findCheck(rule.check)?.vulnId ?? ""} `}</span>
              {checkTitle(rule.check)}
            </span>
            <Calendar rule={rule} />
            <Exposures rule={rule} />
          </li>
        ))}
      </ul>
    </>
  );
}

const tones = { FAIL: "tone-fail", MANUAL: "tone-manual", PASS: "tone-pass", UNKNOWN: "tone-none" } as const;
const cell = 7;

/** A column a week. */
function Calendar({ rule: { days } }: { readonly rule: RuleHistory }) {
  const count = (status: keyof typeof tones) => days.filter((day) => day.status === status).length;
  const first = new Date(days[0]?.day ?? 0).getUTCDay();
  const weeks = Math.ceil((first + days.length) / 7);
  const text = `${count("FAIL")} days failed, ${count("PASS")} passed, ${count("MANUAL")} manual, ${count("UNKNOWN")} unknown`;
  return (
    <svg class="calendar" viewBox={`0 0 ${weeks * cell} ${7 * cell}`} role="img" aria-label={text}>
      {days.map(({ day, status }, index) => {
        const place = first + index;
        return (
          <rect
            key={day}
            class={`filled ${tones[status]}`}
            x={Math.floor(place / 7) * cell}
            y={(place % 7) * cell}
            width={cell - 1}
            height={cell - 1}
          >
            <title>{`${day}: ${status}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}

const maxExposures = 5;

function Exposures({ rule: { exposures } }: { readonly rule: RuleHistory }) {
  if (exposures.length === 0) return null;
  return (
    <ul class="fine">
      {exposures
        .slice(-maxExposures)
        .toReversed()
        .map(({ opened, closed, actor, least_seconds: least, most_seconds: most }) => {
          const who = actor?.name ?? actor?.login ?? actor?.id;
          const by = who === undefined || who === null ? "" : ` by ${who}`;
          const end = closed === null ? "still open" : `closed ${formatTime(Date.parse(closed.known_at))}`;
          const length = `at least ${formatDuration(least * 1000)}, at most ${formatDuration(most * 1000)}`;
          return (
            <li key={opened.known_at}>{`Failed ${formatTime(Date.parse(opened.known_at))}${by}, ${end}: ${length}`}</li>
          );
        })}
    </ul>
  );
}

function failingDays({ days }: RuleHistory): number {
  return days.filter(({ status }) => status === "FAIL").length;
}
