import { decide, defineCheck } from "./check.ts";
import { firstRequestText } from "../evidence/artifact_table.ts";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { entriesOf, type BrandSignInPage, type Evidence, type SignInPage } from "../evidence/artifacts.ts";
import { bannerSentences, shortBanner } from "./parsing/dod_banner.ts";
import { judgeList, Subject, withNames, type FindingDraft } from "./evaluating/finding_drafts.ts";
import { notCovered, withDocument } from "../org_policy/comparison.ts";
import type { OrgPolicy } from "../org_policy/document.ts";
import { showValue } from "./parsing/fields.ts";
import { readPage, wordsOf } from "./parsing/page_text.ts";
import { listTexts, resourceOf } from "./parsing/names.ts";
import { requireDefault } from "./parsing/whole_list.ts";

const expected = "a sign-in page with the whole Standard Mandatory DOD Notice and Consent Banner";

/** DISA's own sentence: what a page shows with styles and scripts that are not in it, only a browser tells. */
const loadedElsewhere =
  'The page loads style sheets or scripts from elsewhere: "Attempt to log in to the Okta tenant and verify ' +
  'the DOD-approved warning banner is in place"';

export const signonDodWarningBannerConfigured = defineCheck({
  name: "signon_dod_warning_banner_configured",
  artifacts: ["brand_sign_in_pages"],
  decidingFields: [
    decide("brand_sign_in_pages", ["id", "name", "isDefault", "_embedded.domains"]),
    decide("brandDomains", ["domain"], "where the list of brands has no domains"),
    decide("signInPage", ["pageContent"]),
    decide("defaultSignInPage", ["pageContent"], "where nothing is customized"),
  ],
  evaluate({ brand_sign_in_pages: given }, { orgPolicy }) {
    const pages = requireDefault(given, {
      isDefault: ({ brand }) => brand["isDefault"] !== false,
      name: "default brand",
      request: firstRequestText("brand_sign_in_pages").replace(/\?.*/, ""),
    });
    const others = otherBrands(pages);
    const drafts = judgeList(pages, {
      expected,
      judgeItem: (branded) => (isUnseen(branded) ? null : closeSubdomain(judgeBrand(branded, others), orgPolicy)),
      judgeEmpty: (org, all) => [all.length === 0 ? org.fail("no brand") : org.unreadable("no brand that is shown")],
    });
    const unseen = entriesOf(pages).flatMap((branded) => (isUnseen(branded) ? [branded.brand] : []));
    return withNames(drafts, "left out, because no domain shows the page", unseen);
  },
});

/** The domains of a brand: `unread` where none of them can be read, `absent` where the answer has no list of them. */
function domainsOf({ domains }: JsonObject): "some" | "none" | "unread" | "absent" {
  if (!Array.isArray(domains)) return "absent";
  if (domains.length === 0) return "none";
  return domains.some((domain) => isJsonObject(domain) && Object.keys(domain).length > 0) ? "some" : "unread";
}

/** True if nobody sees its page: the brand is known to be neither the default one nor that of a domain. */
function isUnseen({ brand }: BrandSignInPage): boolean {
  return brand["isDefault"] === false && domainsOf(brand) === "none";
}

/** Users come to the page of a brand that is not the default one and has a domain. */
type OtherBrands = "with a domain" | "unknown" | "none";

export function otherBrands(pages: Evidence<readonly BrandSignInPage[]> | undefined): OtherBrands {
  const others = entriesOf(pages).filter(({ brand }) => brand["isDefault"] === false);
  if (others.some(({ brand }) => domainsOf(brand) === "some")) return "with a domain";
  return pages?.state === "obtained" && others.every(isUnseen) ? "none" : "unknown";
}

/** Its page as users see it. A FAIL is not proven where the domains that decide whether somebody sees it cannot be read. */
function judgeBrand(branded: BrandSignInPage, others: OtherBrands): FindingDraft {
  const { brand, page } = branded;
  const subject = new Subject(resourceOf("brand", brand), expected);
  const draft = judgeShown(subject, page);
  if (draft.status !== "FAIL") return draft;
  const isOwn = page.state === "obtained" && page.value.kind === "customized" && typeof page.value.content === "string";
  if (brand["isDefault"] === true && others !== "none" && page.state === "obtained" && !isOwn) {
    if (others === "unknown") return subject.unreadable("no page of its own, and other brands' domains unread");
    return subject.noting("another brand has a domain").pass("no page of its own", subdomainLeft);
  }
  const isUnread = brand["isDefault"] === false && domainsOf(brand) === "unread";
  return isUnread ? subject.unreadable(`the brand's domains ${showValue(brand["domains"])}`) : draft;
}

function closeSubdomain(draft: FindingDraft, orgPolicy: OrgPolicy | undefined): FindingDraft {
  if (draft.status !== "PASS" || draft.uncovered !== subdomainLeft) return draft;
  return withDocument(draft, orgPolicy, ({ okta_subdomain: subdomain }) =>
    subdomain === undefined
      ? notCovered
      : { kind: "agrees", said: `nobody to sign in at the Okta subdomain (${subdomain.prevented_by})` },
  );
}

/** Okta refuses a page for the brand of its own subdomain, which cannot have a domain. */
const subdomainLeft = "The Okta subdomain cannot show a banner. Verify that nobody signs in there";

function judgeShown(subject: Subject, page: Evidence<SignInPage>): FindingDraft {
  if (page.state === "missing") return subject.missing(page);
  const { kind, content } = page.value;
  const annotated = kind === "default" ? subject.noting("the page is not customized") : subject;
  if (content === undefined || content === null) return annotated.fail("no banner");
  if (typeof content !== "string") return subject.unreadable(`the page ${showValue(content)}`);
  try {
    return judgePage(annotated, content);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const isOfEngine = error.message.startsWith("Maximum call stack");
    return subject.unreadable(isOfEngine ? "a page that is nested too deep" : error.message);
  }
}

/** The sentences in their order, with any text between them. */
function judgePage(subject: Subject, content: string): FindingDraft {
  const page = readPage(content);
  const notShown = missingIn(page.shown);
  if (notShown.length === 0) {
    const isLoaded = page.unread.has("style") || page.unread.has("script");
    if (isInOrder(page.shown)) return subject.pass("the whole banner", isLoaded ? loadedElsewhere : undefined);
    return subject.manual("needs_review", "every sentence of the banner, but not in its order");
  }
  const missing = missingIn(page.possible);
  if (missing.length === 0) {
    const places = [
      ...new Set(page.uncertainParts.filter((part) => holdsPart(part, notShown)).map(({ reason }) => reason)),
    ];
    const where = places.length === 0 ? "" : ` (${listTexts(places)})`;
    return subject.manual("needs_review", `the whole banner, but some of it where a user may not see it${where}`);
  }
  if (page.possible.includes(wordsOf(shortBanner)))
    return subject.manual("needs_review", "the short form of the banner");
  const isWhole = missing.length === bannerSentences.length;
  const found = isWhole ? "no banner" : `the banner without ${missing.map(quoted).join(" and ")}`;
  if (!page.unread.has("script") && !page.unread.has("frame")) return subject.fail(found);
  return subject.manual("needs_review", `${found} in the page itself, and a script or a frame that may show it`);
}

function holdsPart({ words }: { readonly words: string }, sentences: readonly string[]): boolean {
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
