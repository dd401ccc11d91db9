import { revisionName, type Revision } from "../catalog/catalog.ts";
import { isSameText } from "../revisions/revision.ts";
import { noAnswer, personsPart, type Answer } from "./answers.ts";
import { benchmarkFields, disaFields, textOf, withAnswer, type CklbChecklist, type CklbStig } from "./cklb.ts";
import { statusLabels } from "./status.ts";

/** Fate of the answers of a checklist of another revision. */
export type Carried = ReturnType<typeof carryAnswers>["carried"];

interface OldChecklist {
  readonly document: CklbChecklist;
  readonly stig: CklbStig;
  readonly revision: string;
  readonly answers: ReadonlyMap<string, Answer>;
}

/** The checklist with the rules of another revision, and each answer at the rule that it was given to. */
export function carryAnswers({ document, stig, revision: from, answers }: OldChecklist, target: Revision) {
  const to = revisionName(target.benchmark);
  /** The V-ids of rules that a person had answered and whose text is the same. */
  const kept: string[] = [];
  /** Rules whose text changed: a person has to review the answer. */
  const review: string[] = [];
  /** Answers to rules that are gone, as `V-273186 (answered Open)`. */
  const gone: string[] = [];
  const rules = stig.rules.flatMap((rule) => {
    const vulnId = textOf(rule, "group_id");
    const wanted = target.checks.find((check) => check.rule.vuln_id === vulnId)?.rule;
    const answer = answers.get(vulnId) ?? noAnswer;
    const { answered, text, comments, isAnswered } = personsPart(answer);
    if (wanted === undefined) {
      if (isAnswered) gone.push(`${vulnId} (answered ${statusLabels[answered ?? "not_reviewed"]})`);
      return [];
    }
    const isSame = isSameText(
      { check_text: textOf(rule, "check_content"), fix_text: textOf(rule, "fix_text") },
      wanted,
    );
    if (isAnswered) (isSame ? kept : review).push(vulnId);
    const moved = isSame ? answer : isAnswered ? forReview({ answered, text, comments }, from) : noAnswer;
    return [withAnswer({ ...rule, ...disaFields(wanted) }, moved)];
  });
  const old = new Set(stig.rules.map((rule) => textOf(rule, "group_id")));
  const added = target.checks.map(({ rule }) => rule.vuln_id).filter((vulnId) => !old.has(vulnId));
  const carriedStig = { ...stig, ...benchmarkFields(target.benchmark), size: rules.length, rules };
  return {
    document: { ...document, stigs: document.stigs.map((each) => (each === stig ? carriedStig : each)) },
    stig: carriedStig,
    carried: { from, to, kept, review, added, gone },
  };
}

/** Fate of the answers, in lines for a person. */
export function carriedLines(name: string, { from, to, kept, review, added, gone }: Carried): readonly string[] {
  const listed = (what: string, items: readonly string[]) =>
    items.length === 0 ? [] : [`${what}: ${items.join(", ")}`];
  return [
    `${name} is a checklist of ${from}. Answers carried to ${to}: ${kept.length + review.length}`,
    ...listed(`To review, as ${to} words these rules in a new way`, review),
    ...listed(`New in ${to}`, added),
    ...listed(`Not carried, as ${to} has no such rule`, gone),
  ];
}

/** Without what an earlier run of the scanner wrote, which was about the other text. */
function forReview(
  { answered, text, comments }: Pick<ReturnType<typeof personsPart>, "answered" | "text" | "comments">,
  from: string,
): Answer {
  const words = comments.replace(/^carried from [^\n]*, review(?:\n|$)/, "");
  const mark = `carried from ${from}, review`;
  return { status: answered ?? "not_reviewed", details: text, comments: words === "" ? mark : `${mark}\n${words}` };
}
