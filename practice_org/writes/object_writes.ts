import { named } from "../api/call.ts";
import { ofBrand } from "../api/endpoints.ts";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { createdNow, edit } from "../changes/edit.ts";
import { listed, pagePlace } from "../changes/places.ts";
import { invalid, json, providerError, type PracticeResponse } from "../http/messages.ts";
import { defaultPage, newLogStream, newZone, type LogStreamSpec } from "../contents/new_objects.ts";
import { isSubdomainBrand, type ListName, type Resource, type Site } from "../contents/org_contents.ts";
import { blankName, put, putStatus, textIn, withDefaults, type Write } from "./write_call.ts";

/** Everything but policies as clients of the API write it. */

const lists = { include: [], exclude: [] };

/** Fields of an enhanced dynamic zone, with the values where nothing is sent. */
const zoneFields: JsonObject = { locations: lists, ipServiceCategories: lists, asns: lists };

export const postZone = post("zones", ["DYNAMIC_V2"], "zone", (site, { name }, body) =>
  newZone(site, { name, usage: body["usage"] ?? "POLICY", ...sentZoneFields(body) }),
);

export const putZone = putItem("zones", "NetworkZone", (zone, body) => ({
  name: textIn(body, "name") ?? zone["name"],
  usage: body["usage"] ?? "POLICY",
  ...sentZoneFields(body),
}));

export const putAuthenticator = putItem("authenticators", "Authenticator", (item, body) => {
  const old = isJsonObject(item["settings"]) ? item["settings"] : {};
  // The provider sets this one itself.
  const fixed = "appInstanceId" in old ? { appInstanceId: old["appInstanceId"] } : {};
  const settings = isJsonObject(body["settings"]) ? { settings: { ...body["settings"], ...fixed } } : {};
  return { name: textIn(body, "name") ?? item["name"], ...settings };
});

export const postLogStream = post<LogStreamSpec["type"]>(
  "logStreams",
  ["aws_eventbridge", "splunk_cloud_logstreaming"],
  "stream",
  (site, made, body) => newLogStream(site, { ...made, settings: streamSettings(body) }),
);

export const putLogStream = putItem("logStreams", "LogStream", (stream, body) =>
  body["type"] === stream["type"]
    ? { name: textIn(body, "name") ?? stream["name"], settings: streamSettings(body) }
    : invalid("type", "The stream type cannot be changed"),
);

export const putApiToken = putItem("apiTokens", "ApiToken", (token, body) => ({
  name: body["name"] ?? token["name"],
  clientName: body["clientName"] ?? token["clientName"],
  network: withDefaults({ connection: "ANYWHERE" }, body["network"]),
}));

export const putSignInPage: Write = ofBrand((branded, { draft, contents, body }) => {
  if (isSubdomainBrand(branded, contents)) return providerError("E0000006");
  const { pageContent = null, widgetVersion = null, contentSecurityPolicySetting } = body;
  const texts = branded.customizedPage?.["widgetCustomizations"] ?? defaultPage.widgetCustomizations;
  const unset = Object.fromEntries(Object.keys(isJsonObject(texts) ? texts : {}).map((name) => [name, null]));
  const standard = { ...unset, showPasswordVisibilityToggle: true, showUserIdentifier: true, widgetGeneration: "G2" };
  const page = {
    pageContent,
    widgetVersion,
    widgetCustomizations: withDefaults(standard, body["widgetCustomizations"]),
    ...(contentSecurityPolicySetting === undefined ? {} : { contentSecurityPolicySetting }),
  };
  put(draft, pagePlace(branded), page);
  return json(200, page);
});

export function lifecycle(list: ListName, kind: string): Write {
  return ofItem(list, kind)((item, { draft, segments: [, verb] }) => putStatus(draft, listed(list, item), verb));
}

function post<Type extends string>(
  list: ListName,
  types: readonly Type[],
  noun: string,
  make: (site: Site, made: { readonly name: string; readonly type: Type }, body: JsonObject) => Resource,
): Write {
  return ({ draft, body }) => {
    const name = textIn(body, "name");
    const type = types.find((one) => one === body["type"]);
    if (name === null) return blankName();
    if (type === undefined) return invalid("type", `Unknown ${noun} type`);
    if (draft.contents[list].some((one) => one["name"] === name)) return invalid("name", "Name already in use");
    return json(200, edit(draft, listed(list, null), createdNow(draft, make(draft.site, { name, type }, body))));
  };
}

/** `sent` gives the fields that are written, or a refusal. */
function putItem(
  list: ListName,
  kind: string,
  sent: (item: Resource, body: JsonObject) => JsonObject | PracticeResponse,
): Write {
  return ofItem(
    list,
    kind,
  )((item, { draft, body }) => {
    const fields = sent(item, body);
    return "headers" in fields ? (fields as PracticeResponse) : put(draft, listed(list, item), { ...item, ...fields });
  });
}

function ofItem(list: ListName, kind: string) {
  return named(
    (contents) => contents[list],
    ({ id }) => id,
    kind,
  );
}

function sentZoneFields(body: JsonObject): JsonObject {
  const sent = Object.fromEntries(Object.keys(zoneFields).map((name) => [name, body[name] ?? null]));
  return withDefaults(zoneFields, sent);
}

/** A token is written, and never shown again. */
function streamSettings(body: JsonObject): JsonObject {
  if (!isJsonObject(body["settings"])) return {};
  const { token: _, ...settings } = body["settings"];
  return settings;
}
