import type { Mutation } from "./mutation.ts";

const intoNetwork =
  "a webhook's URL as a way into the gateway's network: loopback, private ranges, the cloud's metadata, in whatever form";
const rebinding = "a name that leads elsewhere when it is looked up again, or to several places";
const redirects = "a receiver that redirects into that network";
const forged = "a forged, changed or replayed message at the receiver";
const slow = "receivers that never answer, answer without end, or are a hundred names of one tenant";
const queue = "a queue without end";
const slack = "a name at the provider that becomes a link or a mention in Slack";
const foreign = "another tenant's webhook, and its deliveries";
const secret = "a webhook's secret in a list, the audit trail or the log";

const address = {
  file: "gateway/features/webhooks/address.ts",
  testFile: "test/gateway/features/webhooks/address.test.ts",
};
const sender = { file: "gateway/runtime/webhook_sender.ts", testFile: "test/gateway/runtime/webhook_sender.test.ts" };
const migration = "drizzle/migrations/0008_webhooks.sql";
const deliverTest = "test/gateway/features/webhooks/deliver.test.ts";
const routesTest = "test/gateway/features/webhooks/routes.test.ts";

/** The table of `docs/threat_model.md` about webhooks. */
export const webhooks: readonly Mutation[] = [
  {
    mistake: "an IPv6 address is public whatever is written in it",
    holds: [intoNetwork],
    ...address,
    find: 'return parsed.kind() === "ipv4" || parsed.match(globalUnicast);',
    replace: "return true || parsed.match(globalUnicast);",
    test: "refuses %s",
  },
  {
    mistake: "IPv4 in IPv6 is judged as IPv6",
    holds: [intoNetwork],
    ...address,
    find: "const parsed = ipaddr.process(address);",
    replace: "const parsed = ipaddr.parse(address);",
    test: "judges an IPv4 address the same",
  },
  {
    mistake: "addresses are checked only where they are allowed",
    holds: [intoNetwork],
    ...sender,
    find: "if (!rules.allowPrivate && !addresses.every(isAllowed))",
    replace: "if (rules.allowPrivate && !addresses.every(isAllowed))",
    test: "by default the addresses of this machine",
  },
  {
    mistake: "the name is looked up again for the connection",
    holds: [rebinding],
    ...sender,
    find: "(address) => post(url, address, request, ca));",
    replace: 'async () => post(url, (await resolve(hostOf(url)))[0] ?? "", request, ca));',
    test: "that answers a public address first",
  },
  {
    mistake: "one public address of a name is enough",
    holds: [rebinding],
    ...sender,
    find: "!addresses.every(isAllowed)",
    replace: "!addresses.some(isAllowed)",
    test: "that answers a private address among public ones",
  },
  {
    mistake: "a redirect is taken for an answer that counts",
    holds: [redirects],
    file: "gateway/features/webhooks/attempt.ts",
    find: "if (status >= 200 && status < 300) return",
    replace: "if (status >= 200 && status < 400) return",
    testFile: sender.testFile,
    test: "a redirect with %i",
  },
  {
    mistake: "the time is not signed",
    holds: [forged],
    file: "gateway/features/webhooks/signature.ts",
    find: "`${id}.${timestamp}.${body}`",
    replace: "`${id}.${body}`",
    testFile: "test/gateway/features/webhooks/signature.test.ts",
    test: "the receiver's library of Standard Webhooks",
  },
  {
    mistake: "an attempt has no bound in time",
    holds: [slow],
    file: "gateway/features/webhooks/attempt.ts",
    find: "signal: AbortSignal.any([timeout, stopped])",
    replace: "signal: stopped",
    testFile: sender.testFile,
    test: "that never comes",
  },
  {
    mistake: "an answer is read to its end",
    holds: [slow],
    file: "gateway/features/webhooks/answer_text.ts",
    find: "      if (length >= maxBytes) break;\n",
    replace: "",
    testFile: sender.testFile,
    test: "that does not end",
  },
  {
    mistake: "a tenant has no bound of its own in a claim",
    holds: [slow],
    file: migration,
    find: "due.of_host <= 4 AND due.of_tenant <= 8",
    replace: "due.of_host <= 4",
    testFile: deliverTest,
    test: "of one tenant leave room",
  },
  {
    mistake: "what is pending has no bound",
    holds: [queue],
    file: migration,
    find: "SELECT count(*) >= 1000 AS is_full",
    replace: "SELECT count(*) < 0 AS is_full",
    testFile: deliverTest,
    test: "of a webhook 1,000 deliveries",
  },
  {
    mistake: "a tenant has as many webhooks as it likes",
    holds: [queue],
    file: "gateway/features/webhooks/webhook_store.ts",
    find: "const maxWebhooks = 20;",
    replace: "const maxWebhooks = 20_000;",
    testFile: routesTest,
    test: "a tenant has at most 20",
  },
  {
    mistake: "names are not escaped for Slack",
    holds: [slack],
    file: "gateway/features/webhooks/slack.ts",
    find: '.replaceAll("<", "&lt;")',
    replace: "",
    testFile: "test/gateway/features/webhooks/slack.test.ts",
    test: "a name makes no link",
  },
  {
    mistake: "a webhook is found under every tenant",
    holds: [foreign],
    file: migration,
    find: 'CREATE POLICY "webhooks_of_tenant" ON "webhooks" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("webhooks"."tenant_id" = (select nullif(current_setting(\'app.tenant_id\', true), \'\')::uuid))',
    replace: 'CREATE POLICY "webhooks_of_tenant" ON "webhooks" AS PERMISSIVE FOR ALL TO "scanstream_app" USING (true)',
    testFile: routesTest,
    test: "another tenant's webhook",
  },
  {
    mistake: "the application role may read secrets",
    holds: [secret],
    file: migration,
    find: "GRANT SELECT (id, tenant_id, url, host,",
    replace: "GRANT SELECT (secret, id, tenant_id, url, host,",
    testFile: "test/drizzle/isolation_suite.ts",
    via: "test/drizzle/pglite.test.ts",
    test: "the application role may neither rewrite",
  },
  {
    mistake: "the audit trail has what a secret was replaced with",
    holds: [secret],
    file: migration,
    find: "SET secret = ARRAY[new_secret, secret[1]], secret_rotated_at = now()",
    replace: "SET secret = ARRAY[new_secret, secret[1]], url = url || '#' || new_secret, secret_rotated_at = now()",
    testFile: routesTest,
    test: "what people do with webhooks",
  },
  {
    mistake: "the URL is logged with the webhook's id",
    holds: [secret],
    file: "gateway/features/webhooks/deliver.ts",
    find: "const fields = { webhook_id: delivery.webhookId,",
    replace: "const fields = { url: delivery.url, webhook_id: delivery.webhookId,",
    testFile: routesTest,
    test: "no secret and no URL",
  },
];
