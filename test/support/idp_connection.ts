import { onTestFinished } from "vitest";
import type { ConnectionSettings } from "../../scanner/okta/connection_settings.ts";
import { HttpIdpClient } from "../../scanner/okta/http_idp_client.ts";
import { Login } from "../../scanner/okta/login.ts";
import { readOrganization } from "../../scanner/okta/connection.ts";
import { parsePrivateKey } from "../../scanner/okta/private_key.ts";
import { RequestSender } from "../../scanner/okta/request_sender.ts";
import { createFakeClock } from "./fake_clock.ts";
import { createScriptedIdp, tokenPath, type Reply, type ScriptedIdp, type SeenRequest } from "./scripted_idp.ts";
import { createSelfSigned } from "./self_signed.ts";

/** A configuration that fits a scripted provider, or a practice org. */
export function configFor(
  idp: Pick<ScriptedIdp, "url" | "clientId" | "privateKey">,
  overrides: Partial<ConnectionSettings> = {},
): ConnectionSettings {
  return {
    orgUrl: idp.url,
    clientId: idp.clientId,
    key: parsePrivateKey(idp.privateKey),
    scopes: ["policies.read", "apps.read", "brands.read"],
    scopePrefix: null,
    concurrency: 8,
    timeoutMs: 5000,
    proxy: { httpsProxy: null, noProxy: "" },
    ...overrides,
  };
}

export interface IdpSetUp {
  /** The provider insists on DPoP with a nonce. */
  readonly dpop?: boolean;
  /** With a certificate of its own authority. */
  readonly tls?: boolean;
  /** How far this machine's clock is ahead of the provider's. */
  readonly aheadMs?: number;
  /** Answers token requests, by the provider's clock. */
  readonly token?: (request: SeenRequest, providerMs: number) => Reply | Promise<Reply>;
  readonly config?: Partial<ConnectionSettings>;
}

/** A scripted provider, and a clock that passes only while something waits for it. Stopped when the test is finished. */
export async function setUpIdp({ dpop = false, tls = false, aheadMs = 0, token, config = {} }: IdpSetUp = {}) {
  const clock = createFakeClock(1_800_000_000_000);
  const providerMs = () => clock.nowMs() - aheadMs;
  const idp = await createScriptedIdp({
    dpop,
    nowMs: providerMs,
    ...(tls ? { tls: createSelfSigned("localhost") } : {}),
  });
  onTestFinished(() => idp.stop());
  if (token !== undefined) idp.on("POST", tokenPath, (request) => token(request, providerMs()));
  return { idp, clock, config: configFor(idp, config) };
}

export async function setUpSender(options: IdpSetUp = {}) {
  const { idp, clock, config } = await setUpIdp(options);
  const sender = new RequestSender(config, { signal: new AbortController().signal, clock });
  onTestFinished(() => sender.close());
  return { idp, clock, config, sender };
}

/** A client that has no token yet. */
export async function setUpClient(options: IdpSetUp = {}) {
  const { idp, clock, config, sender } = await setUpSender(options);
  const org = await readOrganization({ ...config, sender });
  const login = new Login(config, { sender, org });
  return { idp, clock, login, client: new HttpIdpClient(config.orgUrl, login) };
}
