import type { JsonObject } from "../../shared/json.ts";
import { builtInAppChecks } from "./evaluating/built_in_app.ts";
import { entriesOf, type Evidence, type SmartCardIdp } from "../evidence/artifacts.ts";
import { activityOf } from "./parsing/activity.ts";
import type { FindingDraft, Subject } from "./evaluating/finding_drafts.ts";
import type { ChainPath, ChainStep, FactorKind } from "./parsing/authentication_chains.ts";
import { readWord, textsIn } from "./parsing/fields.ts";

const chainsLeft =
  'DISA names "Password/IdP + Another factor" and "Any 2 factor types", and no authentication chain. Verify that the chains demand as much';

export const mfaRequiredChecks = builtInAppChecks({
  suffix: "mfa_required",
  expected: "a first rule that requires two different factors",
  criteria: (cards) => ({
    assurance,
    judgePath: (subject, path, words) => judgePath(subject, path, words, haveAllPins(cards)),
    ifGood: (paths) => `${paths.length === 1 ? "a chain" : "chains"} of two factors, ${paths.join("; ")}`,
    chainsLeft,
  }),
  readsCards: true,
  fields: ["type", "factorMode", "chains[].authenticationMethods[]"],
});

/** True if every identity provider in use says that its cards are PIN protected; for Okta the others are possession only. */
function haveAllPins(cards: Evidence<readonly SmartCardIdp[]> | undefined): boolean {
  const used = entriesOf(cards).filter(({ idp }) => activityOf(idp) !== "inactive");
  const isProtected = used.map(({ idp }) => /\b(?:pin|mfa)\b/.test(textsIn(idp, "properties.additionalAmr").join()));
  return cards?.state === "obtained" && isProtected.length > 0 && !isProtected.includes(false);
}

function assurance(subject: Subject, method: JsonObject): FindingDraft {
  const factorMode = readWord(method, "factorMode", ["1FA", "2FA"]);
  if (factorMode.kind === "absent") return subject.fail("factor mode not set");
  if (factorMode.kind === "unreadable") return subject.unreadable(`the factor mode ${factorMode.found}`);
  return factorMode.value === "2FA" ? subject.pass(factorMode.value) : subject.fail(factorMode.value);
}

/** A user takes the same kind in every step where every step offers it; a step that is both kinds is two factors. */
function judgePath(subject: Subject, path: ChainPath, words: string, hasPin: boolean): FindingDraft {
  type Factor = ChainStep[number]["factor"];
  const isOneKind = (mayBe: (factor: Factor, kind: FactorKind) => boolean) =>
    kinds.some((kind) => path.every((step) => step.some(({ factor }) => factor === kind || mayBe(factor, kind))));
  // A card without a PIN is a possession.
  const isUnclear = (factor: Factor, kind: FactorKind) =>
    factor === "unclear" || (kind === "possession" && (factor === "provider" || (factor === "card" && !hasPin)));
  const isCard = !hasPin && path.flat().some(({ factor }) => factor === "card");
  const chain = `the chain ${words}${isCard ? `, and no proof that the cards' providers are "PIN protected"` : ""}`;
  if (isOneKind(() => false)) return subject.fail(`the one-factor chain ${words}`);
  if (isOneKind(isUnclear)) return subject.manual("needs_review", chain);
  const isPerhaps = isOneKind((factor, kind) => factor === null || isUnclear(factor, kind));
  return isPerhaps ? subject.unreadable(chain) : subject.pass(chain);
}

const kinds: readonly FactorKind[] = ["knowledge", "possession"];
