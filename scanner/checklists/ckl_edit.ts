import type { MergedAnswer, MergedAnswers } from "./answers.ts";
import { attributeOf, type CklChecklist, type CklStig } from "./ckl_document.ts";
import { answerMark, isMark, rootMark, stigMark } from "./ckl_marks.ts";
import { answerFields, rootFields, stigFields } from "./cklb_document.ts";
import type { ResultEngine } from "./result_block.ts";
import { cklStatuses } from "./status.ts";
import { childrenOf, type XmlComment, type XmlElement } from "../xml_elements.ts";

/** A part of the text and what stands there instead. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface CklAnswers {
  readonly answers: MergedAnswers;
  readonly engine: ResultEngine;
  /** The elements VULN of rules that the checklist had not. */
  readonly newRules: string;
  readonly escape: (text: string) => string;
}

/** The text of the checklist with other answers at the rules of one STIG; every other byte stays. */
export function writeCklAnswers(checklist: CklChecklist, stig: CklStig, written: CklAnswers): string {
  const { answers, engine, newRules, escape } = written;
  const edits: Edit[] = stig.rules.flatMap((rule) => {
    const answer = answers.get(attributeOf(rule, "Vuln_Num").trim());
    return answer === undefined ? [] : answerEdits(rule.element, answer, escape);
  });
  const marked = stigFields(engine);
  edits.push(...markEdits(stig.element.comments, stigMark(marked, escape), stig.element.contentStart));
  if (newRules !== "") edits.push(insertion(stig.element.contentEnd, newRules));
  // A mark of the whole file is about every STIG in it.
  if (checklist.stigs.length === 1) {
    const mark = rootMark(rootFields(engine), marked, escape);
    edits.push(...markEdits(checklist.xml.comments, mark, checklist.xml.root.start));
  }
  return applyEdits(checklist.text, edits);
}

function answerEdits(rule: XmlElement, answer: MergedAnswer, escape: (text: string) => string): readonly Edit[] {
  const texts = [
    ["STATUS", cklStatuses[answer.status]],
    ["FINDING_DETAILS", answer.details],
    ["COMMENTS", answer.comments],
  ] as const;
  const edits = texts.flatMap(([name, text]) => {
    const [element] = childrenOf(rule, name);
    const tagged = `<${name}>${escape(text)}</${name}>`;
    if (element === undefined) return text === "" ? [] : [insertion(rule.contentEnd, tagged)];
    if ((name === "STATUS" ? element.text.trim() : element.text) === text) return [];
    return element.isSelfClosing
      ? [{ start: element.start, end: element.end, text: tagged }]
      : [{ start: element.contentStart, end: element.contentEnd, text: escape(text) }];
  });
  return [...edits, ...markEdits(rule.comments, answerMark(answerFields(answer), escape), rule.contentStart)];
}

/** The mark in the place of the one before; null takes that away. */
function markEdits(comments: readonly XmlComment[], mark: string | null, place: number): readonly Edit[] {
  const before = comments.find((comment) => isMark(comment.text));
  const text = mark === null ? "" : `<!--${mark}-->`;
  if (before !== undefined) return [{ start: before.start, end: before.end, text }];
  return mark === null ? [] : [insertion(place, text)];
}

function insertion(at: number, text: string): Edit {
  return { start: at, end: at, text };
}

function applyEdits(text: string, edits: readonly Edit[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const edit of edits.toSorted((one, other) => one.start - other.start || one.end - other.end)) {
    parts.push(text.slice(at, edit.start), edit.text);
    at = edit.end;
  }
  return [...parts, text.slice(at)].join("");
}
