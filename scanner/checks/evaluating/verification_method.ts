import type { JsonObject } from "../../../shared/json.ts";
import { worstOf, type Subject, type FindingDraft } from "./finding_drafts.ts";
import { readObject, readText } from "../parsing/fields.ts";
import { describePath, readChains, type ChainPath } from "../parsing/authentication_chains.ts";
import { nameOf, sortBy } from "../parsing/names.ts";

export interface VerificationCriteria {
  /** The method ASSURANCE: factors and constraints. */
  readonly assurance: (subject: Subject, method: JsonObject) => FindingDraft;
  /** The method AUTH_METHOD_CHAIN: the verdict on a path that a user may take, given its words. */
  readonly judgePath: (subject: Subject, path: ChainPath, words: string) => FindingDraft;
  /** The words for paths that are all good, given those of each. */
  readonly ifGood: (paths: readonly string[]) => string;
  /** The sentence that good chains leave to a person: they are no choice that DISA names. */
  readonly chainsLeft: string;
}

/** Demands of a rule that allows, in an access policy; other methods are for a person to judge. */
export function judgeVerification(subject: Subject, rule: JsonObject, criteria: VerificationCriteria): FindingDraft {
  const draft = judgeMethod(subject, rule, criteria);
  return { ...draft, actual: `${draft.actual} in rule "${nameOf(rule)}"` };
}

function judgeMethod(subject: Subject, rule: JsonObject, criteria: VerificationCriteria): FindingDraft {
  const method = readObject(rule, "actions.appSignOn.verificationMethod");
  if (method.kind === "absent") return subject.fail("no verification method set");
  if (method.kind === "unreadable") return subject.unreadable(`the verification method ${method.found}`);
  const type = readText(method.value, "type");
  if (type.kind === "unreadable") return subject.unreadable(`the method type ${type.found}`);
  // Answers from before chains existed carry no type.
  const word = type.value ?? "ASSURANCE";
  if (word === "ASSURANCE") return criteria.assurance(subject, method.value);
  if (word !== "AUTH_METHOD_CHAIN") return subject.manual("needs_review", `the verification method ${word}`);
  const { paths, unread } = readChains(method.value);
  if (paths.length === 0 && unread === null) return subject.fail("no authentication chain");
  // Chains are alternatives, so the FAIL of one stands no matter what the others are.
  const draft = judgePaths(subject, paths, criteria);
  return draft.status === "FAIL" || unread === null ? draft : subject.unreadable(`the chains ${unread}`);
}

/** Paths are alternatives, so the worst one counts. */
function judgePaths(
  subject: Subject,
  paths: readonly ChainPath[],
  { judgePath, ifGood, chainsLeft }: VerificationCriteria,
): FindingDraft {
  const described = sortBy(
    paths.map((path) => ({ path, words: describePath(path) })),
    ({ words }) => words,
  );
  const drafts = described.map(({ path, words }) => judgePath(subject, path, words));
  const good = subject.pass(ifGood(described.map(({ words }) => words)), chainsLeft);
  const unread = drafts.filter((draft) => draft.status === "MANUAL" && draft.reason === "unreadable");
  return worstOf([...unread, ...drafts.filter(({ status }) => status !== "PASS")]) ?? good;
}
