import * as v from "valibot";
import { optionalText, someText, wholeNumber } from "./check_options.ts";
import { toBounds, toOrigin } from "./config.ts";

/** Checks of the options of `createGateway` and `createWorker`, which are written by hand and may be JavaScript. */

export const adapter = v.looseObject({ open: v.function() });
const auth = {
  /** Set where `parseConfig` has read the issuer. */
  kind: v.optional(v.string()),
  issuer: someText,
  audience: someText,
  tenantClaim: optionalText,
  url: v.optional(v.pipe(v.string(), v.url("expected the URL of a key set"))),
  jwks: v.optional(v.looseObject({ keys: v.array(v.looseObject({})) })),
};
const someBound = v.optional(v.pipe(v.number(), v.gtValue(0, "expected a number above 0")));
const bounds = Object.fromEntries(Object.keys(toBounds()).map((name) => [name, someBound]));
const secret = v.pipe(v.string(), v.minLength(32, "expected 32 random bytes or more"));
const origin = v.pipe(
  v.string(),
  v.check((text) => toOrigin(text) === text, "expected an origin like https://app.example.com, without any path"),
);
export const featureList = v.array(v.looseObject({ prefix: someText, eventStreams: v.looseObject({}) }));

const sharedEntries = {
  features: featureList,
  auth: v.optional(
    v.pipe(
      v.strictObject(auth),
      v.check(({ url, jwks }) => (url === undefined) !== (jwks === undefined), "expected url or jwks"),
    ),
  ),
  corsOrigins: v.optional(v.array(origin)),
  bounds: v.optional(v.strictObject(bounds)),
  log: v.optional(v.looseObject({ info: v.function() })),
};

export const gatewayEntries = {
  ...sharedEntries,
  database: adapter,
  broker: adapter,
  streamTokenSecret: v.optional(secret),
  trustedProxyHops: v.nullish(wholeNumber),
};

export const workerEntries = {
  ...sharedEntries,
  database: v.looseObject({ openForRequests: v.function() }),
  broker: adapter,
  streamTokenSecret: secret,
  streams: v.custom((given) => typeof given === "object" && given !== null, "expected the binding of StreamsObject"),
  shardsPerTenant: v.optional(v.pipe(wholeNumber, v.minValue(1))),
  assets: v.optional(v.any()),
  signIn: v.optional(v.any()),
};
