import type { Mutation } from "./mutation.ts";

const operator =
  "a producer with the broker's password that plays the operator: lists who follows what, closes streams";
const traces = "traces that carry a token, a query or what a statement was given";
const testFile = "test/gateway/admin/streams.test.ts";

/** What operators' tools and traces could give away. */
export const operating: readonly Mutation[] = [
  {
    mistake: "an operator's request is obeyed whatever its seal is",
    holds: [operator],
    file: "gateway/admin/sealed_message.ts",
    find: '!timingSafeEqual(Buffer.from(sealOf(secret, json)), Buffer.from(seal, "latin1"))',
    replace: "!timingSafeEqual(Buffer.from(seal), Buffer.from(seal))",
    testFile,
    test: "a producer with the broker's password is no operator",
  },
  {
    mistake: "a channel that is no tenant's is everybody's",
    holds: [operator],
    file: "shared/channel_name.ts",
    find: "return tenantId !== null && tenantId === principal?.tenantId;",
    replace: "return tenantId === null || tenantId === principal?.tenantId;",
    testFile,
    test: "no key publishes on the operators' channel",
  },
  {
    mistake: "a span has the URL instead of the route",
    holds: [traces],
    file: "gateway/http/request_log.ts",
    find: "return { route: routeOf(c), status: c.res.status };",
    replace: "return { route: c.req.url, status: c.res.status };",
    testFile: "test/gateway/observability/otlp_traces.test.ts",
    test: "the opening of a stream is a span",
  },
];
