import { defaultTreeAdapter, parse, type DefaultTreeAdapterTypes } from "parse5";
import { bannerSentences } from "../../checks/parsing/dod_banner.ts";
import { readText } from "../../checks/parsing/fields.ts";
import { nameOf } from "../../checks/parsing/names.ts";
import { readPage, wordsOf } from "../../checks/parsing/page_text.ts";
import { entriesOf } from "../../evidence/artifacts.ts";
import { below, idOf, importChange, type Planner, type ResourceKind } from "../planned_change.ts";
import { identifier } from "../terraform.ts";

const type = "okta_customized_signin_page";

const paths: ResourceKind["paths"] = {
  widget_version: "widgetVersion",
  widget_customizations: below(
    "widgetCustomizations",
    "widgetGeneration showPasswordVisibilityToggle showUserIdentifier signInLabel usernameLabel usernameInfoTip passwordLabel " +
      "passwordInfoTip forgotPasswordLabel forgotPasswordUrl unlockAccountLabel unlockAccountUrl helpLabel helpUrl " +
      "customLink1Label customLink1Url customLink2Label customLink2Url authenticatorPageCustomLinkLabel " +
      "authenticatorPageCustomLinkUrl classicRecoveryFlowEmailOrUsernameLabel",
  ),
  content_security_policy_setting: below("contentSecurityPolicySetting", "mode reportUri srcList"),
};

/** V-273192: the sign-in page of a brand, with the banner at the top of its body. */
export const signInPages: Planner = {
  checks: ["signon_dod_warning_banner_configured"],
  plan({ finding }, { artifacts }) {
    const brands = entriesOf(artifacts.brand_sign_in_pages);
    const branded = brands.find(({ brand }) => idOf(brand) === finding.resource.id);
    if (branded === undefined || branded.page.state === "missing") return "the evidence does not have the page";
    const { content, settings, kind: pageKind, is_stored: isStored = false } = branded.page.value;
    const withBanner = typeof content === "string" ? insertBanner(content) : null;
    if (withBanner === null || settings === undefined) return "fix cannot tell where the page would show the banner";
    const { brand } = branded;
    // https://developer.okta.com/docs/concepts/brands/: "About subdomain brands and custom brands".
    if (brand["isDefault"] === true && brands.length > 1) {
      return "Okta lets nobody edit the page of the Okta subdomain once the org has a brand of its own";
    }
    const id = String(brand["id"]);
    const was = pageKind === "default" ? "the page was not customized" : "the banner was missing or incomplete";
    const [version, generation] = ["widgetVersion", "widgetCustomizations.widgetGeneration"].map((path) =>
      readText(settings, path),
    );
    if (version?.kind !== "value" || generation?.kind !== "value")
      return "the evidence does not have the widget's version";
    const name = identifier("brand", id, brand["name"]);
    const page = {
      name,
      title: `Sign-in page of the brand "${nameOf(brand)}"`,
      required: { brand_id: id, "widget_customizations.widget_generation": generation.value },
      changes: { page_content: { value: { kind: "file", path: `pages/${name}.html`, text: withBanner }, was } },
      warnings: ["Okta accepts a customized page only for a brand with a custom domain. Open the page afterwards."],
    } as const;
    if (!isStored) return { type, ...page, importId: null, attributes: { widget_version: version.value } };
    return importChange({ type, prefix: "brand", replaced: Object.keys(settings), paths }, settings, {
      ...page,
      importId: id,
    });
  },
};

/** Inserts the banner before the widget, else at the top of the body; null where nobody would see it there. */
function insertBanner(html: string): string | null {
  const place = placeOfBanner(parse(html, { sourceCodeLocationInfo: true }).childNodes);
  if (place === null) return null;
  const withBanner = `${html.slice(0, place)}${banner()}${html.slice(place)}`;
  const words = readPage(withBanner).shown;
  return bannerSentences.every((sentence) => words.includes(wordsOf(sentence))) ? withBanner : null;
}

type Node = DefaultTreeAdapterTypes.ChildNode;

function placeOfBanner(nodes: readonly Node[]): number | null {
  let body: number | null = null;
  const stack = [...nodes];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (!defaultTreeAdapter.isElementNode(node)) continue;
    const { sourceCodeLocation: location, attrs, childNodes } = node;
    const isWidget = attrs.some(({ name, value }) => name === "id" && value === "okta-login-container");
    if (isWidget && location !== null && location !== undefined) return location.startOffset;
    if (node.tagName === "body") body = location?.startTag?.endOffset ?? null;
    stack.push(...childNodes);
  }
  return body;
}

function banner(): string {
  const paragraphs = bannerSentences.map((sentence) => `  <p>${sentence}</p>\n`).join("");
  return `<div class="dod-banner" role="note" style="margin: 1em auto; padding: 1em; max-width: 60em; background: #fff; color: #000">\n${paragraphs}</div>\n`;
}
