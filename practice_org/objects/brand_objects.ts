import type { JsonObject } from "../../shared/json.ts";
import { appId } from "./app_objects.ts";
import { link, oktaId } from "./ids_and_links.ts";
import { defaultPage } from "./sign_in_page.ts";
import type { BrandWithPages, OrgContents, Site } from "./org_contents.ts";

export interface BrandSpec {
  readonly name: string;
  readonly isDefault?: boolean;
  /** Null: no domain shows the brand. */
  readonly domain?: string | null;
  /**
   * `"uncustomized"`: the provider answers 200 with a null `pageContent`, as it does for
   * most brands. `"missing"`: it answers 404.
   */
  readonly customizedPage: { readonly html: string } | "uncustomized" | "missing";
}

/**
 * True when a brand is the subdomain brand of an org with several brands. Okta does not let anybody edit the code of its
 * pages: see "About subdomain brands and custom brands" at https://developer.okta.com/docs/concepts/brands/.
 */
export function isSubdomainBrand({ brand: { isDefault } }: BrandWithPages, { brands }: Pick<OrgContents, "brands">) {
  return isDefault === true && brands.length > 1;
}

export function brand(site: Site, spec: BrandSpec): BrandWithPages {
  const id = oktaId("bnd", spec.name);
  const href = `${site.url}/api/v1/brands/${id}`;
  const ownDomain = `${spec.name.toLowerCase().replaceAll(/\W+/g, "-")}.practice.example`;
  const { isDefault = false, domain = isDefault ? new URL(site.url).host : ownDomain } = spec;
  return {
    brand: {
      id,
      name: spec.name,
      removePoweredByOkta: false,
      customPrivacyPolicyUrl: null,
      agreeToCustomPrivacyPolicy: false,
      isDefault,
      defaultApp: { appInstanceId: appId("Okta Dashboard"), appLinkName: null, classicApplicationUri: null },
      _links: { themes: link(`${href}/themes`, "GET"), self: link(href, "GET", "PUT", "DELETE") },
    },
    customizedPage: customizedPage(spec.customizedPage),
    defaultPage: { pageContent: defaultPage(), widgetVersion: "^7", widgetCustomizations: widgetTexts },
    domains:
      domain === null
        ? []
        : [customDomain(site, { id: isDefault ? "default" : oktaId("OcD", domain), domain, brandId: id })],
  };
}

function customDomain(
  site: Site,
  ids: { readonly id: string; readonly domain: string; readonly brandId: string },
): JsonObject {
  const href = `${site.url}/api/v1/domains/${ids.id}`;
  const links = {
    self: link(href, "GET", "PUT", "DELETE"),
    brand: link(`${site.url}/api/v1/brands/${ids.brandId}`, "GET"),
  };
  return {
    ...ids,
    certificateSourceType: "OKTA_MANAGED",
    validationStatus: "COMPLETED",
    dnsRecords: [],
    _links: links,
  };
}

function customizedPage(page: BrandSpec["customizedPage"]): JsonObject | null {
  if (page === "missing") return null;
  const pageContent = page === "uncustomized" ? null : page.html;
  return { pageContent, widgetVersion: "^7", widgetCustomizations: unsetTexts };
}

const widgetTexts: JsonObject = {
  signInLabel: "Sign In",
  usernameLabel: "Username",
  usernameInfoTip: "",
  passwordLabel: "Password",
  passwordInfoTip: "",
  showPasswordVisibilityToggle: true,
  showUserIdentifier: true,
  forgotPasswordLabel: "Forgot password?",
  forgotPasswordUrl: "",
  unlockAccountLabel: "Unlock account?",
  unlockAccountUrl: "",
  helpLabel: "Help",
  helpUrl: "",
  customLink1Label: "",
  customLink1Url: "",
  customLink2Label: "",
  customLink2Url: "",
  authenticatorPageCustomLinkLabel: "",
  authenticatorPageCustomLinkUrl: "",
  classicRecoveryFlowEmailOrUsernameLabel: "Email or Username",
  widgetGeneration: "G2",
  postAuthKeepMeSignedInPrompt: {
    title: "Keep me signed in",
    subtitle: "Sign in and enter security methods less frequently.",
    acceptButtonText: "Stay signed in",
    rejectButtonText: "Don't stay signed in",
  },
};

/** On a customized page every text that was not changed is null. */
const unsetTexts: JsonObject = {
  ...Object.fromEntries(Object.keys(widgetTexts).map((name) => [name, null])),
  showPasswordVisibilityToggle: true,
  showUserIdentifier: true,
  widgetGeneration: "G2",
  postAuthKeepMeSignedInPrompt: { title: null, subtitle: null, acceptButtonText: null, rejectButtonText: null },
};
