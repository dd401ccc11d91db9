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

export function checkTitle(check: string): string {
  return findCheck(check)?.title ?? formatCheckName(check);
}
