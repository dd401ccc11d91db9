import { asObject } from "./cklb_document.ts";
import { checklistStatuses, cklStatuses } from "./status.ts";

/**
 * Evaluate-STIG's comments, by which STIG Manager's reader of CKL knows which engine gave the results, from the fields of
 * CKLB that say the same. It takes the product from the element's name, so the version says whose it is.
 */
export type EngineFields = unknown;

type Escape = (text: string) => string;

/** For the whole checklist; null where the fields say nothing. */
export function rootMark(fields: EngineFields, stigFields: EngineFields, escape: Escape): string | null {
  const { version } = asObject(fields);
  if (typeof version !== "string") return null;
  return mark(
    `<global>${element("version", version, escape)}${element("time", asObject(stigFields)["time"], escape)}</global>`,
  );
}

/** For one STIG. */
export function stigMark(fields: EngineFields, escape: Escape): string | null {
  const { time, module } = asObject(fields);
  if (typeof time !== "string") return null;
  const { name, version } = asObject(module);
  return mark(
    `${element("time", time, escape)}<module>${element("name", name, escape)}${element("version", version, escape)}</module>`,
  );
}

/** For a rule whose status is a person's. */
export function answerMark(fields: EngineFields, escape: Escape): string | null {
  const { afmod, answer_file: file, old_status: before, new_status: after } = asObject(fields);
  if (afmod !== true) return null;
  const statuses = `${element("OldStatus", toCkl(before), escape)}${element("NewStatus", toCkl(after), escape)}`;
  return mark(`${element("AnswerFile", file, escape)}<AFMod>True</AFMod>${statuses}`);
}

/** True for the text of a comment that is one of these. */
export function isMark(comment: string): boolean {
  return comment.startsWith("<Evaluate-STIG>");
}

function mark(content: string): string {
  return `<Evaluate-STIG>${content}</Evaluate-STIG>`;
}

/** No comment may hold two hyphens. */
function element(name: string, value: unknown, escape: Escape): string {
  const text = typeof value === "string" ? value : "";
  return `<${name}>${escape(text).replace(/-(?=-)/g, "- ")}</${name}>`;
}

function toCkl(status: unknown): string {
  const known = checklistStatuses.find((candidate) => candidate === status);
  return known === undefined ? "" : cklStatuses[known];
}
