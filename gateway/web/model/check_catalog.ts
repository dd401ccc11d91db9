import type { Severity } from "../../../shared/report.ts";
import { formatCheckName } from "./format.ts";

/** What the page says of a check next to its findings. */
export interface CheckText {
  readonly title: string;
  readonly stigId: string;
  readonly severity: Severity;
  readonly fix: string;
}

/** Written into the bundle by `build.ts`, from the catalog of the scanner: the page needs no request for it. */
declare const CHECK_CATALOG: Readonly<Record<string, CheckText>>;

export function findCheck(check: string): CheckText | null {
  return Object.hasOwn(CHECK_CATALOG, check) ? (CHECK_CATALOG[check] ?? null) : null;
}

/** `STIG V1R2` for `okta-idaas-stig-v1r2`; null where the producer did not say. */
export function revisionText(benchmark: string | null): string | null {
  const name = /-(v\d+r\d+)$/.exec(benchmark ?? "")?.[1];
  return name === undefined ? null : `STIG ${name.toUpperCase()}`;
}

export function checkTitle(check: string): string {
  return findCheck(check)?.title ?? formatCheckName(check);
}
