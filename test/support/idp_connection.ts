import type { ConnectionSettings } from "../../scanner/idp/connection.ts";
import { parsePrivateKey } from "../../scanner/idp/private_key.ts";
import type { ScriptedIdp } from "./scripted_idp.ts";

/** A configuration that fits a scripted provider. */
export function configFor(idp: ScriptedIdp, overrides: Partial<ConnectionSettings> = {}): ConnectionSettings {
  return {
    orgUrl: idp.url,
    clientId: idp.clientId,
    key: parsePrivateKey(idp.privateKey, { keyId: null }),
    scopes: ["policies.read", "apps.read", "brands.read"],
    scopePrefix: null,
    concurrency: 8,
    timeoutMs: 5000,
    proxy: { httpsProxy: null, noProxy: "" },
    ...overrides,
  };
}
