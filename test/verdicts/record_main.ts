import { fetch as send, getGlobalDispatcher, Request } from "undici";
import { createPracticeOrg, type PracticeOrg } from "../../practice_org/create_practice_org.ts";
import { parseProfile } from "../../practice_org/contents/profile.ts";
import type { Fetch } from "../../scanner/okta/http_transport.ts";
import { keptHeaders, orgUrl, startMs, tokenPath, type Answer } from "./answers.ts";
import { faultsOf } from "./faults.ts";
import { scanAnswers, scanBy } from "./scan_answers.ts";
import { saveRecordedOrgs, type RecordedOrg } from "./recorded_orgs.ts";

/**
 * Records what practice orgs answer to everything that a scan asks for, with and without faults, into `recorded_orgs.json.br`.
 * Run by hand: `npx node test/verdicts/record_main.ts`, then rewrite the digest. Nothing else here starts a practice org.
 */

const profiles = ["typical", "compliant", "directory", "edge", "classic", "empty", "large:230"];
const roles = ["super", "read-only", "custom"] as const;

async function record(profile: string, role: (typeof roles)[number]): Promise<RecordedOrg> {
  const practiceOrg = await createPracticeOrg({
    profile: parseProfile(profile),
    role,
    publicUrl: orgUrl,
    clock: () => startMs,
    dpop: "off",
    rateLimit: { perWindow: 1_000_000, buckets: {} },
  });
  try {
    return await recordScans(`${profile}/${role}`, practiceOrg);
  } finally {
    await practiceOrg.stop();
  }
}

async function recordScans(name: string, practiceOrg: PracticeOrg): Promise<RecordedOrg> {
  const { clientId, privateKeyPem } = practiceOrg;
  const org: RecordedOrg = { name, clientId, answers: new Map() };
  let authorization = "";
  const recording: Fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const path = url.pathname + url.search;
    const response = await send(`http://127.0.0.1:${practiceOrg.port}${path}`, {
      ...init,
      dispatcher: getGlobalDispatcher(),
    });
    if (path === tokenPath) return response;
    authorization = new Headers(init?.headers as HeadersInit).get("authorization") ?? authorization;
    org.answers.set(path, await toAnswer(response.clone()));
    return response;
  };
  const conclusion = await scanBy(recording, { clientId, privateKey: privateKeyPem });
  if ("notScanned" in conclusion) throw new Error(`Cannot record ${name}: ${conclusion.notScanned}`);
  // A fault can lead to requests that a scan without one does not need, and these are paths that faults hit in turn.
  let known;
  do {
    known = org.answers.size;
    for (const fault of faultsOf(org)) await scanAnswers(recordedOrAsked, { clientId, fault });
  } while (org.answers.size > known);
  return org;

  async function recordedOrAsked(path: string): Promise<Answer> {
    const known = org.answers.get(path);
    if (known !== undefined) return known;
    const response = await send(`http://127.0.0.1:${practiceOrg.port}${path}`, { headers: { authorization } });
    const answer = await toAnswer(response);
    org.answers.set(path, answer);
    return answer;
  }
}

async function toAnswer(response: Awaited<ReturnType<Fetch>>): Promise<Answer> {
  const headers = keptHeaders.flatMap((name) => {
    const value = response.headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return { status: response.status, headers: Object.fromEntries(headers), body: await response.text() };
}

const orgs: RecordedOrg[] = [];
for (const profile of profiles) for (const role of roles) orgs.push(await record(profile, role));
saveRecordedOrgs(orgs);
for (const { name, answers } of orgs) process.stdout.write(`${name}: ${answers.size} answers\n`);
