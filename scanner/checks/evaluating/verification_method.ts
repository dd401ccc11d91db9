import type { JsonObject } from "../../../shared/json.ts";
import type { FindingDraft } from "../check.ts";
import type { Subject } from "./finding_drafts.ts";
import { readList, readObject, readText } from "../parsing/fields.ts";
import { describePath, readChains, type ChainPath } from "../parsing/authentication_chains.ts";
import { nameOf, sortBy } from "../parsing/names.ts";

export interface VerificationCriteria {
  /** The method ASSURANCE: factors and constraints. */
  readonly assurance: (method: JsonObject) => VerificationVerdict;
  /** The method AUTH_METHOD_CHAIN: the verdict on a path that a user may take, given its words. */
  readonly judgePath: (path: ChainPath, words: string) => VerificationVerdict;
  /** The words for paths that are all good, given those of each. */
  readonly ifGood: (paths: readonly string[]) => string;
  /** The sentence that good chains leave to a person: they are no choice that DISA names. */
  readonly chainsLeft: string;
}

export interface VerificationVerdict {
  readonly verdict: "pass" | "fail" | "review" | "unreadable";
  readonly actual: string;
  /** The part that a `pass` leaves to a person. */
  readonly uncovered?: string;
}

/** Demands of a rule that allows, in an access policy; other methods are for a person to judge. */
export function judgeVerification(subject: Subject, rule: JsonObject, criteria: VerificationCriteria): FindingDraft {
  const { verdict, actual, uncovered } = verdictOf(rule, criteria);
  const inRule = `${actual} in rule "${nameOf(rule)}"`;
  if (verdict === "pass") return subject.pass(inRule, uncovered);
  if (verdict === "fail") return subject.fail(inRule);
  return verdict === "review" ? subject.manual("needs_review", inRule) : subject.unreadable(inRule);
}

function verdictOf(rule: JsonObject, criteria: VerificationCriteria): VerificationVerdict {
  const method = readObject(rule, "actions.appSignOn.verificationMethod");
  if (method.kind === "absent") return { verdict: "fail", actual: "no verification method set" };
  if (method.kind === "unreadable") {
    return { verdict: "unreadable", actual: `the verification method ${method.found}` };
  }
  const type = readText(method.value, "type");
  if (type.kind === "unreadable") return { verdict: "unreadable", actual: `the method type ${type.found}` };
  // Answers from before chains existed carry no type.
  const word = type.kind === "value" ? type.value : "ASSURANCE";
  if (word === "ASSURANCE") return criteria.assurance(method.value);
  if (word !== "AUTH_METHOD_CHAIN") return { verdict: "review", actual: `the verification method ${word}` };
  const paths = readChains(method.value);
  if (paths.kind === "unreadable") {
    const proven = failOfOneChain(method.value, criteria);
    return proven ?? { verdict: "unreadable", actual: `the chains ${paths.found}` };
  }
  if (paths.kind === "absent" || paths.value.length === 0)
    return { verdict: "fail", actual: "no authentication chain" };
  const judged = judgePaths(paths.value, criteria);
  return judged.verdict === "pass" ? { ...judged, uncovered: criteria.chainsLeft } : judged;
}

/** Paths are alternatives, so the worst one counts. */
function judgePaths(paths: readonly ChainPath[], { judgePath, ifGood }: VerificationCriteria): VerificationVerdict {
  const described = sortBy(
    paths.map((path) => ({ path, words: describePath(path) })),
    ({ words }) => words,
  );
  const verdicts = described.map(({ path, words }) => judgePath(path, words));
  const [worst] = (["fail", "unreadable", "review"] as const).flatMap((bad) =>
    verdicts.filter(({ verdict }) => verdict === bad),
  );
  return worst ?? { verdict: "pass", actual: ifGood(described.map(({ words }) => words)) };
}

/** Chains are alternatives, so the FAIL of one stands no matter what the others are. */
function failOfOneChain(method: JsonObject, criteria: VerificationCriteria): VerificationVerdict | undefined {
  const chains = readList(method, "chains");
  const alone = chains.kind === "value" ? chains.value.map((chain) => readChains({ chains: [chain] })) : [];
  const verdict = judgePaths(
    alone.flatMap((read) => (read.kind === "value" ? read.value : [])),
    criteria,
  );
  return verdict.verdict === "fail" ? verdict : undefined;
}
