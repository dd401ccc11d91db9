import type { JsonObject } from "../../shared/json.ts";
import { builtInAppChecks } from "./evaluating/built_in_app.ts";
import type { FindingDraft } from "./check.ts";
import type { Subject } from "./evaluating/finding_drafts.ts";
import type { ChainPath, ChainStep, FactorKind } from "./parsing/authentication_chains.ts";
import { readWord } from "./parsing/fields.ts";

const chainsLeft =
  'DISA names "Password/IdP + Another factor" and "Any 2 factor types", and no authentication chain. Verify that the chains demand as much';

const reasons = {
  admin_console: "An intruder in the Admin Console can change everything else in the org.",
  dashboard: "The Dashboard is the way to every app that a user has.",
};

export const mfaRequiredChecks = builtInAppChecks({
  suffix: "mfa_required",
  expected: "a first rule that requires two different factors",
  criteria: {
    assurance,
    judgePath,
    ifGood: (paths) => `chains of two factors, ${paths.join("; ")}`,
    chainsLeft,
  },
  explain: ({ slug, label }) => ({
    examines: `Whether the authentication policy of the ${label} requires two factors, in its first active rule that allows.`,
    why: `${reasons[slug]} A password alone can be guessed, phished or bought.`,
    disa:
      'In the "User must authenticate with" field, verify that either "Password/IdP + Another factor" or "Any 2 factor types" is ' +
      "selected.",
    rests_on: [
      "PASS: the first active rule of the app's policy that allows demands two factors: `factorMode` is 2FA.",
      "DISA's field names two choices and no chain, so chains of two factors are MANUAL (`partly_automated`), and a chain of one is " +
        "FAIL. One step can be two factors: a smart card, or WebAuthn and FastPass with `userVerification` REQUIRED. Other " +
        "verification methods are MANUAL (`needs_review`).",
    ],
    fix: 'Set "User must authenticate with" to a choice of two factor types and save',
    deciding_fields: ["type", "factorMode", "chains[].authenticationMethods[]"],
  }),
});

function assurance(subject: Subject, method: JsonObject): FindingDraft {
  const factorMode = readWord(method, "factorMode", ["1FA", "2FA"]);
  if (factorMode.kind === "absent") return subject.fail("factor mode not set");
  if (factorMode.kind === "unreadable") return subject.unreadable(`the factor mode ${factorMode.found}`);
  return factorMode.value === "2FA" ? subject.pass(factorMode.value) : subject.fail(factorMode.value);
}

/** A user takes the same kind in every step where every step offers it; a step that is both kinds is two factors. */
function judgePath(subject: Subject, path: ChainPath, words: string): FindingDraft {
  const offers = (...factors: readonly ChainStep[number]["factor"][]) =>
    kinds.some((kind) => path.every((step) => step.some(({ factor }) => factor === kind || factors.includes(factor))));
  const chain = `the chain ${words}`;
  if (offers()) return subject.fail(`the one-factor chain ${words}`);
  if (offers("unclear")) return subject.manual("needs_review", chain);
  return offers("unclear", null) ? subject.unreadable(chain) : subject.pass(chain);
}

const kinds: readonly FactorKind[] = ["knowledge", "possession"];
