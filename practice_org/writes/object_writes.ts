import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { createdNow, edit, setField } from "../changes/edit.ts";
import { listed, pagePlace } from "../changes/places.ts";
import { notFound, providerError, type PracticeResponse } from "../http/messages.ts";
import { defaultPage, newLogStream, newZone, type LogStreamSpec, type ZoneSpec } from "../contents/new_objects.ts";
import {
  isSubdomainBrand,
  type BrandWithPages,
  type ListName,
  type Resource,
  type Site,
} from "../contents/org_contents.ts";
import {
  answerWith,
  attempt,
  invalid,
  statusOf,
  textIn,
  withDefaults,
  type Write,
  type WriteCall,
} from "./write_call.ts";

/** Everything but policies as clients of the API write it. */

const lists = { include: [], exclude: [] };

/** Fields of a zone by its type, with the values where nothing is sent. */
const zoneFields: Readonly<Record<ZoneSpec["type"], JsonObject>> = {
  IP: { gateways: null, proxies: null },
  DYNAMIC: { proxyType: null, locations: [], asns: [] },
  DYNAMIC_V2: { locations: lists, ipServiceCategories: lists, asns: lists },
};

export const postZone = post<ZoneSpec["type"]>("zones", ["IP", "DYNAMIC", "DYNAMIC_V2"], "zone", (site, made, body) => {
  const usage = body["usage"] === "BLOCKLIST" ? "BLOCKLIST" : "POLICY";
  return newZone(site, { ...made, usage, fields: sentZoneFields(made.type, body) });
});

export const putZone = put("zones", "NetworkZone", (zone, body) => ({
  name: textIn(body, "name") ?? zone["name"],
  usage: body["usage"] ?? "POLICY",
  ...sentZoneFields(zone["type"] as ZoneSpec["type"], body),
}));

export const putAuthenticator = put("authenticators", "Authenticator", (item, body) => {
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

export const putLogStream = put("logStreams", "LogStream", (stream, body) =>
  body["type"] === stream["type"]
    ? { name: textIn(body, "name") ?? stream["name"], settings: streamSettings(body) }
    : invalid("type", "The stream type cannot be changed"),
);

export const putApiToken = put("apiTokens", "ApiToken", (token, body) => ({
  name: body["name"] ?? token["name"],
  clientName: body["clientName"] ?? token["clientName"],
  network: withDefaults({ connection: "ANYWHERE" }, body["network"]),
}));

export const putSignInPage: Write = ofBrand((branded, { draft, body }) => {
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
  attempt(() => edit(draft, pagePlace(branded), page));
  return answerWith(page);
});

export function lifecycle(list: ListName, kind: string): Write {
  return ofItem(list, kind, (item, { draft, segments: [, verb] }) => {
    const status = statusOf(verb);
    if (status === null) return providerError("E0000006");
    attempt(() => setField(draft, listed(list, item), "status", status));
    return answerWith(draft.contents[list].find(({ id }) => id === item.id) ?? item);
  });
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
    if (name === null) return invalid("name", "The field cannot be left blank");
    if (type === undefined) return invalid("type", `Unknown ${noun} type`);
    if (draft.contents[list].some((one) => one["name"] === name)) return invalid("name", "Name already in use");
    const created = createdNow(draft, make(draft.site, { name, type }, body));
    edit(draft, listed(list, null), created);
    return answerWith(created);
  };
}

/** `sent` gives the fields that are written, or a refusal. */
function put(
  list: ListName,
  kind: string,
  sent: (item: Resource, body: JsonObject) => JsonObject | PracticeResponse,
): Write {
  return ofItem(list, kind, (item, { draft, body }) => {
    const fields = sent(item, body);
    if ("headers" in fields) return fields as PracticeResponse;
    attempt(() => edit(draft, listed(list, item), { ...item, ...fields }));
    return answerWith(draft.contents[list].find(({ id }) => id === item.id) ?? item);
  });
}

function sentZoneFields(type: ZoneSpec["type"], body: JsonObject): JsonObject {
  const standard = zoneFields[type];
  const sent = Object.fromEntries(Object.keys(standard).map((name) => [name, body[name] ?? null]));
  return withDefaults(standard, sent);
}

/** A token is written, and never shown again. */
function streamSettings(body: JsonObject): JsonObject {
  if (!isJsonObject(body["settings"])) return {};
  const { token: _, ...settings } = body["settings"];
  return settings;
}

function ofItem(list: ListName, kind: string, write: (item: Resource, call: WriteCall) => PracticeResponse): Write {
  return (call) => {
    const [id = ""] = call.segments;
    const item = call.draft.contents[list].find((one) => one.id === id);
    return item === undefined ? notFound(id, kind) : write(item, call);
  };
}

function ofBrand(write: (branded: BrandWithPages, call: WriteCall) => PracticeResponse): Write {
  return (call) => {
    const [id = ""] = call.segments;
    const { contents } = call.draft;
    const branded = contents.brands.find(({ brand }) => brand.id === id);
    if (branded === undefined) return notFound(id, "Brand");
    return isSubdomainBrand(branded, contents) ? providerError("E0000006") : write(branded, call);
  };
}
