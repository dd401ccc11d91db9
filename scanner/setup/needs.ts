import type { ConnectionSettings } from "../okta/connection_settings.ts";
import { examineConnection, examineOptional, examineRole, type StepResult } from "../okta/examine.ts";
import { remedies, type IdpErrorCode } from "../okta/idp_error.ts";
import type { RequestSender } from "../okta/request_sender.ts";
import { defaultScopes as requiredScopes } from "../settings/values.ts";

/** Clicks for a person, in this order, signed in as a Super Administrator. `needs`: names of the needs that they are about. */
export const consoleSteps = [
  {
    title: "Create the app",
    needs: /^app$/,
    clicks: [
      "In the Admin Console, open Applications → Applications.",
      "Create App Integration → API Services → Next.",
      'App integration name: scanstream. Save. Copy the "Client ID".',
    ],
  },
  {
    title: "Save the public key in this app",
    needs: /^key$/,
    clicks: [
      'General → Client Credentials → Edit → "Public key / Private key".',
      'Add key → paste the line above that begins with {"kty" → Done → Save.',
    ],
  },
  {
    title: "Grant the scopes to this app",
    needs: /^scope:/,
    clicks: [
      `Okta API Scopes → Grant: ${requiredScopes.map((scope) => `okta.${scope}`).join(", ")}.`,
      "Optional: okta.logs.read, for follow.",
      "Optional: okta.orgs.read, for the setting of public client apps.",
    ],
  },
  {
    title: "Give this app a role that can only read",
    needs: /^role$/,
    clicks: ["Admin roles → Edit assignments → Read-Only Administrator → Save."],
  },
];

/** One line of what a scan needs, as the org shows it now. */
export interface NeedState {
  /** `app`, `key`, `scope:policies.read`, or the step of the examination that it comes from. */
  readonly need: string;
  /** `open`: not there yet; `wrong`: there, and not as it should be; `optional`: neither, and a scan works without it. */
  readonly state: "done" | "open" | "wrong" | "optional";
  /** Observation, and a remedy for what is not done; one sentence or two. */
  readonly text: string;
}

/** Examines the org and the app, as `doctor` does; null: there is no Client ID yet. */
export async function examineNeeds(
  settings: Omit<ConnectionSettings, "clientId">,
  clientId: string | null,
  sender: RequestSender,
): Promise<readonly NeedState[]> {
  const needs: NeedState[] = [];
  for await (const result of examine({ ...settings, clientId: clientId ?? "", scopes: requiredScopes }, sender)) {
    needs.push(...needsOf(result, clientId ?? ""));
    if (result.step === "clock" && clientId === null) return [...needs, need("app", "open", "No Client ID yet")];
    // The optional ones come last: until the others are there, a poll does without their requests.
    if (result.step === "role" && needs.some(isLeft)) break;
  }
  return needs;
}

async function* examine(config: ConnectionSettings, sender: RequestSender): AsyncGenerator<StepResult> {
  const connection = yield* examineConnection(config, sender);
  if (connection === null) return;
  yield await examineRole(connection);
  yield* examineOptional(connection);
}

/** Returns true for what keeps a person from a first scan. */
export function isLeft({ state }: NeedState): boolean {
  return state === "open" || state === "wrong";
}

/** Failures that the address is to blame for: setup ends, because it can only be changed in a new run. */
const wrongAddress: readonly (IdpErrorCode | undefined)[] = ["wrong_org", "tls_failed"];

function needsOf({ step, state, detail, remedy, granted, code }: StepResult, clientId: string): readonly NeedState[] {
  const app = need("app", "done", `App ${clientId}: found`);
  const text = remedy === null ? detail : `${detail}. ${remedy}`;
  if (state === "fail") {
    if (code === "wrong_client") {
      const wrong = `This org has no active API Services app with the Client ID ${clientId}. Copy it from the app's page`;
      return [need("app", "wrong", wrong)];
    }
    if (code === "bad_key") {
      const open = `The app ${clientId} does not accept the key. Paste the line above into this app, not another one, save, and see that the key is Active`;
      return [app, need("key", "open", open)];
    }
    if (code === "no_role") return [need("role", "open", `The app ${clientId} has no admin role. ${remedies.role}`)];
    if (step !== "scopes") return [need(wrongAddress.includes(code) ? "organization" : step, "wrong", text)];
  }
  if (step === "token") return [app, need("key", "done", "Public key: saved in the app, and active")];
  if (step === "scopes")
    return requiredScopes.map((scope) =>
      granted?.includes(scope) === true
        ? need(`scope:${scope}`, "done", `okta.${scope}`)
        : need(`scope:${scope}`, "open", `okta.${scope}: not granted to the app ${clientId}`),
    );
  if (step === "role") return [need("role", "done", `Role: ${text}`)];
  const isNeeded = step === "organization" || step === "clock";
  return [need(step, state === "ok" ? "done" : isNeeded ? "wrong" : "optional", text)];
}

function need(name: string, state: NeedState["state"], text: string): NeedState {
  return { need: name, state, text };
}
