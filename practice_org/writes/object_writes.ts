import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import type { Draft, ListName } from "../changes/draft.ts";
import { create, editSignInPage, remove, setSignInPage, setStatus, update } from "../changes/object_edits.ts";
import { notFound, providerError, type PracticeResponse } from "../http/messages.ts";
import { logStream } from "../objects/log_stream_objects.ts";
import { zoneObject } from "../objects/zone_objects.ts";
import { isSubdomainBrand } from "../objects/brand_objects.ts";
import type { BrandWithPages, Resource } from "../objects/org_contents.ts";
import { statusOf } from "./policy_writes.ts";
import { answerWith, attempt, invalid, noContent, textIn, withDefaults, type Write } from "./write_call.ts";

/** Everything but policies as clients of the API write it. */

const lists = { include: [], exclude: [] };

/** Fields of a zone by its type, with the values where nothing is sent. */
const zoneFields: Readonly<Record<string, JsonObject>> = {
  IP: { gateways: null, proxies: null },
  DYNAMIC: { proxyType: null, locations: [], asns: [] },
  DYNAMIC_V2: { locations: lists, ipServiceCategories: lists, asns: lists },
};

export const postZone: Write = ({ draft, body }) => {
  const name = textIn(body, "name");
  const type = textIn(body, "type") ?? "";
  if (name === null) return invalid("name", "The field cannot be left blank");
  if (type !== "IP" && type !== "DYNAMIC" && type !== "DYNAMIC_V2") return invalid("type", "Unknown zone type");
  if (draft.contents.zones.some((zone) => zone["name"] === name)) return invalid("name", "Zone name already in use");
  const usage = body["usage"] === "BLOCKLIST" ? "BLOCKLIST" : "POLICY";
  const zone = zoneObject(draft.site, { name, type, usage, fields: sentZoneFields(type, body) });
  create(draft, "zones", zone);
  return answerWith(findItem(draft, "zones", zone.id) ?? zone);
};

export const putZone: Write = ofItem("zones", "NetworkZone", (zone, { draft, body }) => {
  const fields = sentZoneFields(String(zone["type"]), body);
  const name = textIn(body, "name") ?? zone["name"];
  attempt(() => update(draft, "zones", zone, (old) => ({ ...old, name, usage: body["usage"] ?? "POLICY", ...fields })));
  return answerWith(findItem(draft, "zones", zone.id) ?? zone);
});

export const deleteZone: Write = ofItem("zones", "NetworkZone", (zone, { draft }) => {
  if (zone["system"] === true || zone["status"] === "ACTIVE") return providerError("E0000006");
  remove(draft, "zones", zone);
  return noContent;
});

export const zoneLifecycle = lifecycle("zones", "NetworkZone");

export const putAuthenticator: Write = ofItem("authenticators", "Authenticator", (item, { draft, body }) => {
  const old = isJsonObject(item["settings"]) ? item["settings"] : {};
  // The provider sets this one itself.
  const fixed = "appInstanceId" in old ? { appInstanceId: old["appInstanceId"] } : {};
  const settings = isJsonObject(body["settings"]) ? { settings: { ...body["settings"], ...fixed } } : {};
  const name = textIn(body, "name") ?? item["name"];
  attempt(() => update(draft, "authenticators", item, (before) => ({ ...before, name, ...settings })));
  return answerWith(findItem(draft, "authenticators", item.id) ?? item);
});

export const authenticatorLifecycle = lifecycle("authenticators", "Authenticator");

export const postLogStream: Write = ({ draft, body }) => {
  const name = textIn(body, "name");
  const type = body["type"];
  if (name === null) return invalid("name", "The field cannot be left blank");
  if (type !== "aws_eventbridge" && type !== "splunk_cloud_logstreaming") return invalid("type", "Unknown stream type");
  if (draft.contents.logStreams.some((stream) => stream["name"] === name))
    return invalid("name", "Name already in use");
  const stream = logStream(draft.site, { name, type, settings: streamSettings(body) });
  create(draft, "logStreams", stream);
  return answerWith(findItem(draft, "logStreams", stream.id) ?? stream);
};

export const putLogStream: Write = ofItem("logStreams", "LogStream", (stream, { draft, body }) => {
  if (body["type"] !== stream["type"]) return invalid("type", "The stream type cannot be changed");
  const name = textIn(body, "name") ?? stream["name"];
  attempt(() => update(draft, "logStreams", stream, (old) => ({ ...old, name, settings: streamSettings(body) })));
  return answerWith(findItem(draft, "logStreams", stream.id) ?? stream);
});

export const deleteLogStream: Write = ofItem("logStreams", "LogStream", (stream, { draft }) => {
  remove(draft, "logStreams", stream);
  return noContent;
});

export const logStreamLifecycle = lifecycle("logStreams", "LogStream");

export const putApiToken: Write = ofItem("apiTokens", "ApiToken", (token, { draft, body }) => {
  const network = withDefaults({ connection: "ANYWHERE" }, body["network"]);
  const { name, clientName } = token;
  const sent = { name: body["name"] ?? name, clientName: body["clientName"] ?? clientName };
  attempt(() => update(draft, "apiTokens", token, (old) => ({ ...old, ...sent, network })));
  return answerWith(findItem(draft, "apiTokens", token.id) ?? token);
});

export const putSignInPage: Write = ofBrand((branded, { draft, body }) => {
  if (isSubdomainBrand(branded, draft.contents)) return providerError("E0000006");
  const { pageContent = null, widgetVersion = null, contentSecurityPolicySetting } = body;
  const texts = branded.customizedPage?.["widgetCustomizations"] ?? branded.defaultPage["widgetCustomizations"];
  const unset = Object.fromEntries(Object.keys(isJsonObject(texts) ? texts : {}).map((name) => [name, null]));
  const standard = { ...unset, showPasswordVisibilityToggle: true, showUserIdentifier: true, widgetGeneration: "G2" };
  const page = {
    pageContent,
    widgetVersion,
    widgetCustomizations: withDefaults(standard, body["widgetCustomizations"]),
    ...(contentSecurityPolicySetting === undefined ? {} : { contentSecurityPolicySetting }),
  };
  attempt(() => editSignInPage(draft, branded, () => page));
  return answerWith(page);
});

export const deleteSignInPage: Write = ofBrand((branded, { draft }) => {
  if (isSubdomainBrand(branded, draft.contents)) return providerError("E0000006");
  attempt(() => setSignInPage(draft, branded, null));
  return noContent;
});

function lifecycle(list: Exclude<ListName, "apiTokens">, kind: string): Write {
  return ofItem(list, kind, (item, { draft, segments: [, verb] }) => {
    const status = statusOf(verb);
    if (status === null) return providerError("E0000006");
    attempt(() => setStatus(draft, list, item, status));
    return answerWith(findItem(draft, list, item.id) ?? item);
  });
}

function sentZoneFields(type: string, body: JsonObject): JsonObject {
  const standard = zoneFields[type] ?? {};
  const sent = Object.fromEntries(Object.keys(standard).map((name) => [name, body[name] ?? null]));
  return withDefaults(standard, sent);
}

/** A token is written, and never shown again. */
function streamSettings(body: JsonObject): JsonObject {
  if (!isJsonObject(body["settings"])) return {};
  const { token: _, ...settings } = body["settings"];
  return settings;
}

function ofItem(
  list: ListName,
  kind: string,
  write: (item: Resource, call: Parameters<Write>[0]) => PracticeResponse,
): Write {
  return (call) => {
    const [id = ""] = call.segments;
    const item = findItem(call.draft, list, id);
    return item === undefined ? notFound(id, kind) : write(item, call);
  };
}

function findItem({ contents }: Draft, list: ListName, id: string): Resource | undefined {
  return contents[list].find((item) => item.id === id);
}

function ofBrand(write: (branded: BrandWithPages, call: Parameters<Write>[0]) => PracticeResponse): Write {
  return (call) => {
    const [id = ""] = call.segments;
    const branded = call.draft.contents.brands.find(({ brand }) => brand.id === id);
    return branded === undefined ? notFound(id, "Brand") : write(branded, call);
  };
}
