import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPracticeOrg, type PracticeOrg, type PracticeOrgOptions } from "../practice_org/create_practice_org.ts";
import { publishCredentials } from "../practice_org/auth/credentials.ts";
import { parseProfile, profileContents } from "../practice_org/profiles/profile.ts";
import type { OrgContents } from "../practice_org/objects/org_contents.ts";
import type { Report } from "../shared/report.ts";
import { runMeasured, saysWhatItUsed } from "./measured_command.ts";
import { allPages, signedIn } from "../test/practice_org/raw_client.ts";
import { buildPackage } from "../tools/build.ts";

export interface ScanFigures {
  readonly profile: string;
  readonly requests: number;
  /** The fewest requests that can answer all 29 checks of this org. */
  readonly fewest: number;
  readonly refused429: number;
  /** From the first request to the last verdict, from the report. */
  readonly scanMs: number;
  /** The whole command, Node's own start included. */
  readonly wallMs: number;
  /** What a client needs that does nothing but log in, walk the pages of apps and read one policy's rules. */
  readonly chainMs: number;
  readonly maxRssMiB: number;
}

const latencyMs = 50;
const perWindow = 600;

/** S1–S3: requests against the fewest, time against what the provider allows, and memory, of the command as users run it. */
async function benchScan(profileName: string): Promise<ScanFigures> {
  const profile = parseProfile(profileName);
  const options = {
    profile,
    role: "super",
    latencyMs,
    rateLimit: { perWindow, windowSeconds: 60, buckets: {} },
  } as const;
  const chainMs = await walkChain(options);
  const org = await createPracticeOrg(options);
  const folder = await mkdtemp(join(tmpdir(), "scanstream-bench-"));
  try {
    const { privateKeyFile } = await publishCredentials(org, folder);
    const { wallMs, maxRssMiB } = await runScanCommand(org, folder, { privateKeyFile });
    const report = JSON.parse(await readFile(join(folder, "scan.json"), "utf8")) as Report;
    const contents = profileContents(profile, { url: org.url, nowMs: Date.now() });
    return {
      profile: profileName,
      requests: report.scan.requests.total,
      fewest: fewestRequests(contents),
      refused429: org.requests.filter(({ status }) => status === 429).length,
      wallMs,
      scanMs: Date.parse(report.scan.ended_at) - Date.parse(report.scan.started_at),
      chainMs: Math.round(chainMs),
      maxRssMiB,
    };
  } finally {
    await org.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Each page names the next, so no client is faster than this; the window of the rate limit holds all of it. */
async function walkChain(options: PracticeOrgOptions): Promise<number> {
  const org = await createPracticeOrg(options);
  try {
    const startedMs = performance.now();
    const client = await signedIn(org);
    const pages = await allPages(client.get, "/api/v1/apps?limit=200");
    const links = pages.at(-1)?.at(-1)?.["_links"] as { readonly accessPolicy: { readonly href: string } };
    await (await client.get(`/api/v1/policies/${links.accessPolicy.href.split("/").at(-1)}/rules`)).json();
    return performance.now() - startedMs;
  } finally {
    await org.stop();
  }
}

/** As it is published, in a separate process, so that memory is the scanner's alone. Its report is `scan.json` in the folder. */
export async function runScanCommand(
  org: PracticeOrg,
  folder: string,
  { privateKeyFile, env = {} }: { readonly privateKeyFile: string; readonly env?: Readonly<Record<string, string>> },
) {
  await buildPackage(join(folder, "package"));
  const node = [process.execPath, saysWhatItUsed, join(folder, "package/scanstream.js")];
  return runMeasured({
    command: [...node, "scan", "--quiet", "--fail-on", "never", "--format", "json", "--output", folder],
    env: {
      PATH: process.env["PATH"],
      IDP_ORG_URL: org.url,
      IDP_CLIENT_ID: org.clientId,
      IDP_PRIVATE_KEY_FILE: privateKeyFile,
      ...env,
    },
    exitCodes: [0],
  });
}

/** The provider's largest page of apps. */
const appsPerPage = 200;
/** To log in: the org's address document, the token request that is answered with a nonce, and the one with it. */
const loginRequests = 3;

/** Counted from what the org holds, not from the scanner's requests: one request for each thing that no list contains. */
function fewestRequests(contents: OrgContents): number {
  const ofType = (type: string) => contents.policies.filter(({ policy }) => policy.type === type);
  const isActive = ({ policy }: { readonly policy: { readonly status: string } }) => policy.status === "ACTIVE";
  const lists = ["sign-on policies", "password policies", "automations", "brands", "authenticators", "zones"];
  const moreLists = ["API tokens", "log streams", "smart card identity providers"];
  const signInPages = contents.brands.map((brand) => (brand.customizedPage?.["pageContent"] ? 1 : 2));
  return (
    loginRequests +
    lists.length +
    moreLists.length +
    Math.ceil((contents.apps.length + 1) / appsPerPage) +
    appPolicyIds(contents).size +
    ofType("OKTA_SIGN_ON").filter(isActive).length +
    ofType("USER_LIFECYCLE").length +
    1 + // the Admin Console's settings
    signInPages.reduce((sum: number, pages) => sum + pages, 0) +
    ownerRequests(contents) +
    smartCardKeys(contents).size
  );
}

function appPolicyIds({ apps, serviceAppPolicyId }: OrgContents): ReadonlySet<string> {
  const ids = new Set<string>(serviceAppPolicyId === null ? [] : [serviceAppPolicyId]);
  for (let index = 0; index < apps.length; index += 1) {
    const app = apps.get(index);
    const links = app["_links"] as { readonly accessPolicy?: { readonly href: string } } | undefined;
    const id = links?.accessPolicy?.href.split("/").at(-1);
    if (app.status === "ACTIVE" && id !== undefined) ids.add(id);
  }
  return ids;
}

/** A token owner's roles; where they do not decide, the groups; each group's roles once. */
function ownerRequests({ apiTokens, users, groups }: OrgContents): number {
  const owners = [...new Set(apiTokens.map((token) => token["userId"]))].map((id) =>
    users.find(({ user }) => user.id === id),
  );
  const isSuper = (roles: readonly { readonly [field: string]: unknown }[]) =>
    roles.some((role) => role["type"] === "SUPER_ADMIN");
  const undecided = owners.filter((owner) => owner !== undefined && !isSuper(owner.roles));
  const groupIds = new Set(undecided.flatMap((owner) => owner?.groupIds ?? []));
  return owners.length + undecided.length + groups.filter(({ group }) => groupIds.has(group.id)).length;
}

function smartCardKeys({ identityProviders }: OrgContents): ReadonlySet<unknown> {
  const keys = identityProviders
    .filter((provider) => provider["type"] === "X509")
    .map(
      (provider) => (provider["protocol"] as { credentials?: { trust?: { kid?: string } } }).credentials?.trust?.kid,
    );
  return new Set(keys.filter((kid) => kid !== undefined));
}

export async function benchScans(say: (line: string) => void): Promise<readonly ScanFigures[]> {
  const figures = [];
  for (const profile of ["typical", "large:10000"]) {
    const figure = await benchScan(profile);
    figures.push(figure);
    const { requests, fewest, scanMs, chainMs } = figure;
    say(
      `${profile}: requests ÷ fewest ${requests} ÷ ${fewest} = ${(requests / fewest).toFixed(2)} · ` +
        `scan ${scanMs} ms, the page chain alone ${chainMs} ms (${(scanMs / chainMs).toFixed(2)}), whole command ${figure.wallMs} ms · ` +
        `429s provoked ${figure.refused429} · peak memory ${figure.maxRssMiB} MiB`,
    );
  }
  return figures;
}
