import { parseConfig } from "../gateway/config.ts";

/** What every command shares: the text of the manual page and of `docs/reference/`. Markdown. */

export type Entry = readonly [name: string, meaning: string];

export const exitCodeEntries: readonly Entry[] = [
  ["0", "nothing to fail on"],
  ["1", "a finding that `--fail-on` names, or a `--threshold` that is not met; for `diff`: the files differ"],
  ["2", "wrong usage or configuration, or an output that could not be written"],
  ["3", "not authenticated, or the probe failed: no check was evaluated"],
  ["4", "a defect in scanstream"],
  ["130", "interrupted; the report of what was evaluated is still written"],
];

export const scannerVariables: readonly Entry[] = [
  ["IDP_ORG_URL", "organization address, `https://acme.okta.com`; `http://` only for this machine"],
  ["IDP_CLIENT_ID", "client id of the service app"],
  [
    "IDP_PRIVATE_KEY, IDP_PRIVATE_KEY_FILE",
    "the private key, or a file that holds it. PEM (PKCS#8, PKCS#1, SEC1; also with `\\n` escapes, or base64 of a PEM), JWK or JWKS; RSA or EC. The content wins over the file",
  ],
  ["IDP_PRIVATE_KEY_ID", "`kid` for a PEM key, or the key of a JWKS to use"],
  ["IDP_SCOPES", "replaces the default list of scopes"],
  ["IDP_SCOPE_PREFIX", "`okta` or `idp`; default: asked from the org"],
  [
    "IDP_APPROVED_ISSUERS",
    "certificate issuers that the smart card check accepts instead of the DOD's (`OU=DoD;OU=ECA`), separated by semicolons; a leading `+` adds to them: `+O=Agency`",
  ],
  ["HTTPS_PROXY, NO_PROXY, NODE_EXTRA_CA_CERTS", "a proxy, and private certificate authorities"],
  [
    "SCANSTREAM_URL, SCANSTREAM_API_KEY",
    "a gateway and an API key there: the scan is registered, stored and streamed; `scans`, `findings` and `watch` read from it",
  ],
  [
    "UPSTASH_REDIS_REST_URL, UPSTASH_REDIS_REST_TOKEN, REDIS_URL, EVENTSTREAM_CACHE_DB",
    "with SCANSTREAM_URL: events go straight to this broker instead of through the gateway",
  ],
];

const { port, host, historyDays, trustedProxyHops, drainDelaySeconds, auth, bounds } = parseConfig({});

export const gatewayVariables: readonly Entry[] = [
  ["PORT, HOST", `default ${port}, ${host}`],
  ["DATABASE_URL", "Postgres or Neon; default: embedded (PGlite) in `.scanstream/`"],
  ["UPSTASH_REDIS_REST_URL, UPSTASH_REDIS_REST_TOKEN", "the broker over REST"],
  [
    "REDIS_URL",
    "the broker over TCP: `redis://`, [`redis+cluster://` or `redis+sentinel://`](../deploy.md#redis-cluster-and-sentinel), `rediss` for TLS; without a broker variable: in process",
  ],
  ["EVENTSTREAM_CACHE_DB", "database number of the broker, default 2; part of every channel's key"],
  [
    "AUTH_JWKS_URL or AUTH_JWKS, AUTH_ISSUER, AUTH_AUDIENCE",
    "issuer of the JWTs that are accepted; default: a local development key",
  ],
  [
    "AUTH_TENANT_CLAIM",
    `default \`${auth.tenantClaim}\`: the UUID of a tenant, or a list of UUIDs; \`sub\` is the user`,
  ],
  [
    "OIDC_CLIENT_ID, OIDC_SCOPES",
    "people sign in to the page at `AUTH_ISSUER` with this public client; default scopes: `openid profile email`",
  ],
  ["STREAM_TOKEN_SECRET", "signs stream tokens, at least 32 bytes; required with a real database"],
  ["CORS_ORIGINS", "allowed browser origins, separated by commas; default: no origin"],
  ["METRICS_PORT", "serves `/metrics` on this port only; set it behind a proxy"],
  [
    "RETENTION_DAYS",
    "scans and monitors that ended longer ago are deleted; default: everything is kept ([keeping](../keeping.md))",
  ],
  [
    "HISTORY_DAYS",
    `default ${historyDays}: how many days the history of organizations is kept ([keeping](../keeping.md#history))`,
  ],
  [
    "TRUSTED_PROXY_HOPS",
    `default ${trustedProxyHops}, at most 10: how many proxies before the gateway append to \`X-Forwarded-For\`; with 0 the header is ignored ([operating](../operate.md#what-one-tenant-may-take))`,
  ],
  [
    "WEBHOOK_ALLOW_PRIVATE",
    "1: webhooks may use private and loopback addresses, any port, and no TLS ([webhooks](../webhooks.md))",
  ],
  [
    "DRAIN_DELAY_SECONDS",
    `default ${drainDelaySeconds}: time from SIGTERM, when \`/readyz\` starts to answer 503, until the port closes`,
  ],
  ["EVENTSTREAM_HEARTBEAT_SECONDS", `default ${bounds.heartbeatSeconds}: time between heartbeats of a stream`],
  ["EVENTSTREAM_RECHECK_SECONDS", `default ${bounds.recheckSeconds}: time between checks of a stream's authorization`],
  ["EVENTSTREAM_MAX_BUFFER_BYTES", `default ${bounds.maxBufferBytes}: bytes that may wait for a slow client`],
  ["EVENTSTREAM_MAX_STREAMS", `default ${bounds.maxStreams}: open streams of a gateway process`],
  ["EVENTSTREAM_MAX_STREAMS_PER_TENANT", `default ${bounds.maxStreamsPerTenant}: open streams of a tenant`],
  ["EVENTSTREAM_MAX_LIFETIME_SECONDS", `default ${bounds.maxLifetimeSeconds}: lifetime of a stream; clients reconnect`],
];
