import { generateKeyPairSync } from "node:crypto";
import { Headers, Request, type Response } from "undici";
import type { Fetch } from "../../scanner/okta/http_transport.ts";
import { IdpError } from "../../scanner/okta/idp_error.ts";
import type { FinishedScan } from "../../scanner/run_scan.ts";
import { createFakeClock } from "../support/fake_clock.ts";
import { scanPracticeOrg } from "../support/scan_practice_org.ts";
import { grantToken, orgUrl, startMs, tokenPath, type Answering } from "./answers.ts";
import { faultyAnswer, isHit, type Fault } from "./faults.ts";

export interface Credentials {
  readonly clientId: string;
  readonly privateKey: string;
}

const { privateKey } = generateKeyPairSync("ec", {
  namedCurve: "P-256",
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});

/** The finished scan, or the code of the login's failure. */
export type Conclusion = FinishedScan | { readonly notScanned: string };

/** Rejects if an answer is not recorded. */
export async function scanAnswers(
  answering: Answering,
  { clientId, fault }: { readonly clientId: string; readonly fault?: Fault },
): Promise<Conclusion> {
  const clock = createFakeClock(startMs);
  const unknown: unknown[] = [];
  const replay: Fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const request = url.pathname + url.search;
    const answer = await answerTo(request, init?.body).catch((error: unknown) => {
      unknown.push(error);
      throw error;
    });
    const nowSeconds = Math.floor(clock.nowMs() / 1000);
    const headers = {
      date: new Date(clock.nowMs()).toUTCString(),
      "x-rate-limit-limit": "600",
      "x-rate-limit-remaining": "599",
      "x-rate-limit-reset": String(nowSeconds + 60),
      ...answer.headers,
    };
    // All that a transport reads of a response: undici's own, with its streams, takes a tenth of the time of a scan.
    const response = { status: answer.status, headers: new Headers(headers), body: [Buffer.from(answer.body)] };
    return response as unknown as Response;
  };
  const conclusion = await scanBy(replay, { clientId, privateKey }, clock);
  if (unknown.length > 0) throw unknown[0];
  return conclusion;

  async function answerTo(request: string, body: unknown) {
    const isHitNow = fault !== undefined && isHit(fault, request);
    // The cursor of a page that only the fault made leads to nothing recorded.
    if (isHitNow && fault.name === "second-page-fails" && request.includes("after=")) {
      return faultyAnswer(fault.name, { request, right: { status: 500, headers: {}, body: "" }, nowMs: clock.nowMs() });
    }
    const right = request === tokenPath ? grantToken(new URLSearchParams(String(body))) : await answering(request);
    return isHitNow ? faultyAnswer(fault.name, { request, right, nowMs: clock.nowMs() }) : right;
  }
}

/** A whole scan over this `fetch`. */
export async function scanBy(
  fetch: Fetch,
  { clientId, privateKey: privateKeyPem }: Credentials,
  clock = createFakeClock(startMs),
): Promise<Conclusion> {
  try {
    return await scanPracticeOrg({ url: orgUrl, clientId, privateKeyPem }, { fetch, clock });
  } catch (error) {
    if (error instanceof IdpError) return { notScanned: error.code };
    throw error;
  }
}
