import type { StigRule } from "./catalog.ts";
import nist from "./nist_800_53_r5.json" with { type: "json" };

export type ControlBaseline = "low" | "moderate" | "high";
export const controlBaselines: readonly ControlBaseline[] = ["low", "moderate", "high"];

/** A control of NIST SP 800-53 rev. 5 that a rule of the STIG names. */
export interface Control {
  /** As in OSCAL's catalog: `ac-2.3`. */
  readonly id: string;
  /** As people write it: `AC-2(3)`. */
  readonly label: string;
  readonly title: string;
  /** The baselines of SP 800-53B that select it; none for a control that an organization adds itself. */
  readonly baselines: readonly ControlBaseline[];
}

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
