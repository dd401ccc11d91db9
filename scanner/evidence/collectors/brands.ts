import { missing, type Evidence, type JsonList, type SignInPage } from "../artifacts.ts";
import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import type { IdpClient, Reading } from "../../okta/idp_client.ts";
import { artifactTable, partPath, partPaths } from "../artifact_table.ts";
import { keeping, mapEntries, mapEvidence, pathSegment, type Collector } from "./collector.ts";

const scope = "brands.read";

const keepDomain = keeping(["id", "domain", "validationStatus"]);

export const collectBrandSignInPages: Collector<"brand_sign_in_pages"> = async ({ client }) => {
  const { request } = artifactTable.brand_sign_in_pages;
  const expanded = await client.getList(request);
  const isRefused = expanded.state === "missing" && expanded.refusal?.httpStatus === 400;
  const brands = isRefused
    ? await client.getList({ ...request, path: request.path.replace("expand=domains&", "") })
    : expanded;
  return mapEntries(brands, async ({ _embedded: embedded, ...brand }) => {
    const [page, domains] = await Promise.all([
      signInPage(client, brand),
      isRefused ? null : domainsOf(client, brand, embedded),
    ]);
    return { brand: domains === null ? brand : { ...brand, domains }, page };
  });
};

/** Null where they cannot be read, and for the default brand, which is shown in any case. */
async function domainsOf(client: IdpClient, brand: JsonObject, embedded: unknown): Promise<JsonList | null> {
  const domains = isJsonObject(embedded) ? embedded["domains"] : null;
  if (Array.isArray(domains)) return domains.map((domain) => (isJsonObject(domain) ? keepDomain(domain) : {}));
  const id = pathSegment(brand["id"]);
  if (brand["isDefault"] !== false || id === null) return null;
  const read = await client.getList({ path: partPath(partPaths.brandDomains, id), scope, keep: keepDomain });
  return read.state === "obtained" ? read.value : null;
}

/** The customized page; the default one where the provider answers 404 or null for the customized one. */
async function signInPage(client: IdpClient, brand: JsonObject): Promise<Evidence<SignInPage>> {
  const id = pathSegment(brand["id"]);
  if (id === null)
    return missing("unreadable", "The brand has no usable id, so its sign-in page could not be asked for.");
  const path = partPath(partPaths.signInPage, id);
  const customized = await client.getObject({ path, scope });
  if (isCustomized(customized)) return pageOf("customized", customized);
  const shown = await client.getObject({ path: partPath(partPaths.defaultSignInPage, id), scope });
  return pageOf("default", shown, customized.state === "obtained" ? customized.value : null);
}

/** True also for a refusal other than 404, which then is the evidence. */
function isCustomized(page: Reading<JsonObject>): boolean {
  if (page.state === "missing") return page.refusal?.httpStatus !== 404;
  const content = page.value["pageContent"];
  return content !== undefined && content !== null && content !== "";
}

/** `customized`: what the provider keeps of a page that was customized and has no content any more. */
function pageOf(
  kind: SignInPage["kind"],
  page: Reading<JsonObject>,
  customized: JsonObject | null = null,
): Promise<Evidence<SignInPage>> {
  return mapEvidence(page, (value): SignInPage => {
    const is_stored = kind === "customized" || customized !== null;
    return { kind, content: value["pageContent"] ?? null, settings: settingsOf(customized ?? value), is_stored };
  });
}

function settingsOf(page: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(page).filter(([name]) => name !== "pageContent" && !name.startsWith("_")));
}
