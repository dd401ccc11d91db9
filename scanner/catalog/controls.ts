import type { ControlResult } from "../../shared/report.ts";
import type { StigRule } from "./catalog.ts";
import nist from "./nist_800_53_r5.json" with { type: "json" };

export const controlBaselines = ["low", "moderate", "high"] as const;

/** A control of NIST SP 800-53 rev. 5 that a rule of the STIG names; one that an organization adds itself is in no baseline. */
type Control = Pick<ControlResult, "id" | "label" | "title" | "baselines">;

interface NistControl {
  readonly title: string;
  readonly baselines: readonly string[];
}

/** Every control that the STIG names, in the order of NIST's catalog. */
export const controls: readonly Control[] = Object.entries<NistControl>(nist.controls).map(
  ([id, { title, baselines }]) => ({
    id,
    label: labelOf(id),
    title,
    baselines: controlBaselines.filter((baseline) => baselines.includes(baseline)),
  }),
);

/** The controls that a rule names, each once. */
export function controlsOf(rule: Pick<StigRule, "nist_800_53_r5">): readonly Control[] {
  const ids = new Set(rule.nist_800_53_r5.map(controlIdOf));
  return controls.filter(({ id }) => ids.has(id));
}

/** `AC-2 (3) (a)` is a part of `ac-2.3`, `AC-11 a` one of `ac-11`. */
function controlIdOf(citation: string): string {
  const [, family = "", number = "", enhancement] = /^([A-Z]{2})-(\d+)(?:\s*\((\d+)\))?/.exec(citation) ?? [];
  const base = `${family.toLowerCase()}-${Number(number)}`;
  return enhancement === undefined ? base : `${base}.${Number(enhancement)}`;
}

function labelOf(id: string): string {
  const [base = "", enhancement] = id.split(".");
  return `${base.toUpperCase()}${enhancement === undefined ? "" : `(${enhancement})`}`;
}
