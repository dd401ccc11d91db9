import { defaultTreeAdapter, parse, type DefaultTreeAdapterTypes } from "parse5";
import type { JsonObject } from "../../../shared/json.ts";
import { bannerSentences } from "../../checks/parsing/dod_banner.ts";
import { readPage, wordsOf } from "../../checks/parsing/page_text.ts";
import { readObject } from "../../checks/parsing/fields.ts";
import { nameOf } from "../../checks/parsing/names.ts";
import type { BrandSignInPage } from "../../evidence/artifacts.ts";
import { idOf, listed, type Failed, type PlanDraft } from "../plan_draft.ts";
import { change, identifier, toAttributes, type Value } from "../terraform.ts";
import { readWhole, unknownFields, type Source } from "../whole_objects.ts";

const check = "signon_dod_warning_banner_configured";
const texts = [
  ["sign_in_label", "signInLabel"],
  ["username_label", "usernameLabel"],
  ["username_info_tip", "usernameInfoTip"],
  ["password_label", "passwordLabel"],
  ["password_info_tip", "passwordInfoTip"],
  ["forgot_password_label", "forgotPasswordLabel"],
  ["forgot_password_url", "forgotPasswordUrl"],
  ["unlock_account_label", "unlockAccountLabel"],
  ["unlock_account_url", "unlockAccountUrl"],
  ["help_label", "helpLabel"],
  ["help_url", "helpUrl"],
  ["custom_link_1_label", "customLink1Label"],
  ["custom_link_1_url", "customLink1Url"],
  ["custom_link_2_label", "customLink2Label"],
  ["custom_link_2_url", "customLink2Url"],
  ["authenticator_page_custom_link_label", "authenticatorPageCustomLinkLabel"],
  ["authenticator_page_custom_link_url", "authenticatorPageCustomLinkUrl"],
  ["classic_recovery_flow_email_or_username_label", "classicRecoveryFlowEmailOrUsernameLabel"],
] as const;

const widget: readonly Source[] = [
  ["widget_generation", "text", "widgetCustomizations.widgetGeneration"],
  ["show_password_visibility_toggle", "boolean", "widgetCustomizations.showPasswordVisibilityToggle", null],
  ["show_user_identifier", "boolean", "widgetCustomizations.showUserIdentifier", null],
  ...texts.map(([attribute, field]): Source => [attribute, "text", `widgetCustomizations.${field}`, null]),
];

const contentSecurity: readonly Source[] = [
  ["mode", "text", "contentSecurityPolicySetting.mode", null],
  ["report_uri", "text", "contentSecurityPolicySetting.reportUri", null],
  ["src_list", "texts", "contentSecurityPolicySetting.srcList", null],
];

const known = ["widgetVersion", ...[...widget, ...contentSecurity].map(([, , path]) => path)];

/** V-273192: the sign-in page of each failing brand as a whole, with the banner at the top of its body. */
export function planSignInPages(draft: PlanDraft): void {
  for (const failed of draft.failedOf([check])) {
    const branded = listed(draft.artifacts.brand_sign_in_pages).find(
      ({ brand }) => idOf(brand) === failed.finding.resource.id,
    );
    if (branded === undefined) draft.byHand([failed], "the evidence does not name the brand");
    else planPage(draft, branded, failed);
  }
}

function planPage(draft: PlanDraft, { brand, page }: BrandSignInPage, failed: Failed): void {
  if (page.state === "missing") return draft.byHand([failed], "the evidence does not have the page");
  const { content, settings, is_stored: isStored = false } = page.value;
  if (settings === undefined) {
    return draft.byHand([failed], "the evidence does not have the page's other settings: collect it again");
  }
  const withBanner = typeof content === "string" ? insertBanner(content) : null;
  if (withBanner === null) return draft.byHand([failed], "fix cannot tell where the page would show the banner");
  // The texts of the default page are the provider's, not the brand's.
  const kept = isStored ? settings : withoutTexts(settings);
  const version = readWhole(kept, [["widget_version", "text", "widgetVersion"]]);
  const customizations = readWhole(kept, widget);
  const policy = readWhole(kept, contentSecurity);
  const missing = [...version.missing, ...customizations.missing, ...policy.missing];
  const unknown = unknownFields(kept, Object.keys(kept), known);
  if (missing.length > 0) return draft.byHand([failed], `the evidence does not have ${missing.join(", ")}`);
  if (unknown.length > 0) return draft.byHand([failed], `Terraform would reset ${unknown.join(", ")}`);
  const id = String(brand["id"]);
  const resource = draft.resource(
    {
      type: "okta_customized_signin_page",
      name: identifier("brand", id, brand["name"]),
      title: `Sign-in page of the brand "${nameOf(brand)}"`,
      importId: isStored ? id : null,
      attributes: { brand_id: id, ...version.attributes },
    },
    [failed],
  );
  const html: Value = { kind: "page", text: withBanner };
  const was = page.value.kind === "default" ? "the page was not customized" : "the banner was missing or incomplete";
  change(resource.attributes, "page_content", html, { rules: [failed.rule], was });
  resource.blocks.push({ name: "widget_customizations", attributes: toAttributes(customizations.attributes) });
  if (readObject(kept, "contentSecurityPolicySetting").kind === "value") {
    resource.blocks.push({ name: "content_security_policy_setting", attributes: toAttributes(policy.attributes) });
  }
  resource.warnings.add(
    "Replaces the whole sign-in page. Okta accepts one only for a brand with a custom domain. Open the page afterwards.",
  );
}

function withoutTexts(settings: JsonObject): JsonObject {
  const { widgetCustomizations } = settings;
  const generation = readWhole(settings, widget.slice(0, 1)).attributes["widget_generation"];
  return widgetCustomizations === undefined
    ? settings
    : { widgetVersion: settings["widgetVersion"], widgetCustomizations: { widgetGeneration: generation } };
}

/** Before the widget, else at the top of the body; null where nobody would see it there. */
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
