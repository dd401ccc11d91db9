import type { BrandSignInPage } from "../evidence/artifacts.ts";
import { defineCheck, type FindingDraft } from "./check.ts";
import { bannerSentences, shortBanner } from "./parsing/dod_banner.ts";
import { fail, judgeList, manual, manualForMissing, pass, unreadable, type Subject } from "./judging/finding_drafts.ts";
import { showValue } from "./parsing/fields.ts";
import { readPage, wordsOf, type Doubt } from "./parsing/page_text.ts";
import { listTexts, resourceOf } from "./parsing/names.ts";

const expected = "a sign-in page with the whole Standard Mandatory DOD Notice and Consent Banner";

/** DISA's own sentence: what a page shows with styles and scripts that are not in it, only a browser tells. */
const loadedElsewhere =
  'The page loads style sheets or scripts from elsewhere, so a person has to "Attempt to log in to the Okta tenant and verify ' +
  'the DOD-approved warning banner is in place"';

export const signonDodWarningBannerConfigured = defineCheck({
  name: "signon_dod_warning_banner_configured",
  artifacts: ["brand_sign_in_pages"],
  explanation: {
    examines: "Whether the sign-in page of every brand holds DISA's notice and consent banner, word for word.",
    why:
      "Users consent to monitoring only where the page announces it. The words are compared, not their markup: tags, entities, scripts, " +
      "quotation marks, dashes and case make no difference; text in a comment, or hidden by the page itself, does not count, and a " +
      "string of a script counts where the script passes it on to what shows it.",
    fix: [
      "Open Customizations > Brands in the Admin Console and each brand (a custom domain is needed)",
      'On the Pages tab choose Configure next to "Sign-in page", and the code editor',
      "Insert the banner as the Okta DOD Warning Banner Configuration Guide of the STIG package says, and publish",
    ],
    deciding_fields: [
      "GET /api/v1/brands: id, name",
      "GET /api/v1/brands/{id}/pages/sign-in/customized: pageContent",
      "GET /api/v1/brands/{id}/pages/sign-in/default: pageContent (where nothing is customized)",
    ],
  },
  evaluate: ({ brand_sign_in_pages: pages }) =>
    judgeList(pages, {
      expected,
      judgeItem: judgeBrand,
      judgeEmpty: () => [fail({ resource: null, expected }, "no brand")],
    }),
});

function judgeBrand({ brand, page }: BrandSignInPage): FindingDraft {
  const subject: Subject = { resource: resourceOf("brand", brand), expected };
  if (page.state === "missing") return manualForMissing(subject, page);
  const { kind, content } = page.value;
  const note = kind === "default" ? "the page is not customized" : undefined;
  const annotated: Subject = note === undefined ? subject : { ...subject, note };
  if (content === undefined || content === null) return fail(annotated, "no banner");
  if (typeof content !== "string") return unreadable(subject, `the page ${showValue(content)}`);
  try {
    return judgePage(annotated, content);
  } catch (error) {
    if (error instanceof RangeError) return unreadable(subject, error.message);
    throw error;
  }
}

/** The sentences in their order, with any text between them. */
function judgePage(subject: Subject, content: string): FindingDraft {
  const page = readPage(content);
  const notShown = missingIn(page.shown);
  if (notShown.length === 0) {
    if (isInOrder(page.shown)) return pass(subject, "the whole banner", page.loadsMore ? loadedElsewhere : undefined);
    return manual(subject, "needs_review", "every sentence of the banner, but not in its order");
  }
  const missing = missingIn(page.possible);
  if (missing.length === 0) {
    const places = [...new Set(page.doubts.filter((doubt) => holdsPart(doubt, notShown)).map(({ reason }) => reason))];
    const where = places.length === 0 ? "" : ` (${listTexts(places)})`;
    return manual(subject, "needs_review", `the whole banner, but some of it where a user may not see it${where}`);
  }
  if (page.possible.includes(wordsOf(shortBanner)))
    return manual(subject, "needs_review", "the short form of the banner");
  if (missing.length === bannerSentences.length) return fail(subject, "no banner");
  return fail(subject, `the banner without ${missing.map(quoted).join(" and ")}`);
}

function holdsPart({ words }: Doubt, sentences: readonly string[]): boolean {
  const isLong = words.length > 20;
  return isLong && sentences.map(wordsOf).some((sentence) => words.includes(sentence) || sentence.includes(words));
}

function missingIn(words: string): readonly string[] {
  return bannerSentences.filter((sentence) => !words.includes(wordsOf(sentence)));
}

function isInOrder(words: string): boolean {
  let position = 0;
  for (const sentence of bannerSentences) {
    const found = words.indexOf(wordsOf(sentence), position);
    if (found === -1) return false;
    // The space after a sentence is the one before the next.
    position = found + wordsOf(sentence).length - 1;
  }
  return true;
}

function quoted(sentence: string): string {
  const text = sentence.replace(/^-/, "");
  return `"${text.length > 60 ? `${text.slice(0, 57)}...` : text}"`;
}
