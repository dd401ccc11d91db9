import { useState } from "preact/hooks";
import { formatTime } from "../../model/format.ts";
import type { Scan } from "../../scan_wire.ts";
import { useZone } from "../hooks.ts";

/** Any two scans of an organization, or a scan and what its monitor sees now. */
export function CompareChoice({
  scans,
  monitorId,
}: {
  readonly scans: readonly Scan[];
  readonly monitorId: string | null;
}) {
  useZone();
  const [before, setBefore] = useState<string | null>(null);
  const [after, setAfter] = useState<string | null>(null);
  const now = monitorId === null ? [] : [{ id: monitorId, text: "Now, as the monitor sees it" }];
  const all = scans.map(({ id, createdAtMs }) => ({ id, text: createdAtMs === null ? id : formatTime(createdAtMs) }));
  const choices = [...now, ...all];
  if (choices.length < 2 || all.length === 0) return null;
  const from = before ?? choices[1]?.id ?? "";
  const to = after ?? choices[0]?.id ?? "";
  return (
    <section class="card compare-choice" aria-labelledby="compare-choice-title">
      <h2 id="compare-choice-title">Compare</h2>
      <div class="row wrap">
        <Choice label="Earlier" value={from} choices={all} onChange={setBefore} />
        <Choice label="Later" value={to} choices={choices} onChange={setAfter} />
        <a class="button" href={`#/compare/${from}/${to}`} aria-disabled={from === to}>
          Compare
        </a>
      </div>
    </section>
  );
}

function Choice(props: {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly { readonly id: string; readonly text: string }[];
  readonly onChange: (id: string) => void;
}) {
  return (
    <label class="row">
      {props.label}
      <select value={props.value} onChange={({ currentTarget }) => props.onChange(currentTarget.value)}>
        {props.choices.map(({ id, text }) => (
          <option key={id} value={id}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
