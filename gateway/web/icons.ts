import type { Status } from "../../shared/report.ts";
import { element, svg } from "./dom.ts";

/** Drawn in `index.html`; decoration only, so that words beside it say the same. */
export type IconName = "pass" | "fail" | "manual" | "chevron" | "search" | "back" | "close";

export function icon(name: IconName): SVGSVGElement {
  return svg("svg", { class: `icon icon-${name}`, attributes: { "aria-hidden": "true", focusable: "false" } }, [
    svg("use", { attributes: { href: `#icon-${name}` } }),
  ]);
}

export const statusNames: Readonly<Record<Status, string>> = { FAIL: "Fail", MANUAL: "Manual", PASS: "Pass" };

export function statusIcon(status: Status): IconName {
  return status === "PASS" ? "pass" : status === "FAIL" ? "fail" : "manual";
}

export function statusTag(status: Status): HTMLElement {
  return element("span", { class: `tag tag-${statusIcon(status)}` }, [icon(statusIcon(status)), statusNames[status]]);
}
