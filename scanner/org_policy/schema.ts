import * as v from "valibot";
import { readAddressRange } from "../checks/parsing/address_ranges.ts";
import type { Parameter, ParameterValues } from "../checks/parameter.ts";
import { isDay } from "../../shared/decisions/expiry.ts";
import { described } from "../../shared/schemas/primitives.ts";

export const orgPolicyFormat = "scanstream.org_policy/1";

const nameMessage = "expected a text of 1 to 500 characters";
const name = v.pipe(v.string(nameMessage), v.regex(/\S/, nameMessage), v.maxLength(500, nameMessage));
const dayMessage = "expected a day like 2026-11-28";
const day = v.pipe(v.string(dayMessage), v.check(isDay, dayMessage));
const zoneNames = v.pipe(
  list(name, "names of network zones"),
  v.checkItems((zone, index, all) => all.indexOf(zone) === index, "expected each zone once"),
);
const originMessage = "expected the address of an org, like https://acme.okta.com";
const rangeMessage = "expected an address, a CIDR or a range, like 192.0.2.0/24 or 192.0.2.1-192.0.2.9";
const range = v.pipe(
  v.string(rangeMessage),
  v.check((text) => readAddressRange(text) !== null, rangeMessage),
);
const digestMessage = "expected 64 hexadecimal digits, with or without colons";
const digest = v.pipe(
  v.string(digestMessage),
  // JSON Schema has no flag for the case.
  v.regex(/^(?:[0-9a-fA-F]{64}|(?:[0-9a-fA-F]{2}:){31}[0-9a-fA-F]{2})$/, digestMessage),
);

const zoneLists = {
  zones_allowed: v.exactOptional(described(zoneNames, "Access is allowed from these, and from no other")),
  zones_denied: v.exactOptional(described(zoneNames, "Access is denied from these")),
};
type ZoneLists = v.InferOutput<v.ObjectSchema<typeof zoneLists, undefined>>;

/**
 * The schema of the organization's Access Control policy as data: what DISA's rules compare an org with, and no API shows.
 * `shared/org_policy.schema.json` is made from it. `parameters`: the values that an organization may set otherwise.
 */
export function orgPolicySchemaOf(parameters: readonly Parameter[]) {
  return strict({
    $schema: v.exactOptional(v.string()),
    format: v.literal(orgPolicyFormat, `expected "${orgPolicyFormat}"`),
    org_url: v.pipe(
      v.string(originMessage),
      v.check((text) => URL.canParse(text) && new URL(text).origin === text, originMessage),
      v.description("The org that it is about"),
    ),
    approved_by: described(name, "The person who read and approved it"),
    approved_on: described(day, "The first day on which it decides"),
    expires: described(day, "The last day on which it decides"),
    reference: described(name, "Title or number, and version, of the organization's own document"),
    limits: v.exactOptional(
      described(
        strict(Object.fromEntries(parameters.map(limit))) as v.GenericSchema<ParameterValues>,
        "The organization's values in place of the STIG's; results count by the STIG",
      ),
    ),
    session_policies: v.exactOptional(
      unique(
        withZones({ policy: described(name, "Its name; *: every other one") }),
        ({ policy }) => policy,
        "session policies",
      ),
    ),
    apps: v.exactOptional(
      unique(
        v.pipe(
          withZones({
            app: v.exactOptional(described(name, "Its label; *: every other one")),
            policy: v.exactOptional(described(name, "The authentication policy of its apps")),
          }),
          v.check(({ app, policy }) => (app === undefined) !== (policy === undefined), "expected app or policy"),
          v.check(({ policy }) => policy !== "*", 'expected "app": "*" for every other app'),
        ),
        ({ app, policy }) => JSON.stringify([app, policy]),
        "apps and policies",
      ),
    ),
    api_tokens: v.exactOptional(
      unique(
        strict({
          token: described(name, "Its name"),
          owner: described(name, "The login of the account that it was made for"),
          roles: described(list(name, "names of roles"), "The roles that this account holds"),
          zones: described(zoneNames, "The zones of the application that calls the API"),
          purpose: name,
        }),
        ({ token }) => token,
        "API tokens",
      ),
    ),
    anonymizers: v.exactOptional(
      v.union(
        [
          v.literal("okta_managed"),
          strict({
            ranges: v.pipe(list(range, "ranges"), v.minLength(1, "expected at least one range")),
            source: described(name, "The CSSP's list"),
            date: day,
          }),
        ],
        'expected "okta_managed", or the ranges of the CSSP with their source and date',
      ),
    ),
    certificate_authorities: v.exactOptional(
      unique(
        strict({ sha256: described(digest, "Of the whole certificate"), name }),
        ({ sha256 }) => sha256.replaceAll(":", "").toLowerCase(),
        "certificates",
      ),
    ),
    user_sourcing: v.exactOptional(v.picklist(["okta", "directory", "both"], 'expected "okta", "directory" or "both"')),
    okta_subdomain: v.exactOptional(
      strict({
        use: v.literal("not_used", 'expected "not_used"'),
        prevented_by: described(name, "How sign-in there is prevented"),
      }),
    ),
    siem: v.exactOptional(
      strict({
        method: described(name, "How the SIEM pulls the System Log"),
        client_id: described(name, "The service app that it uses"),
      }),
    ),
  });
}

function limit(parameter: Parameter): [string, v.ExactOptionalSchema<v.GenericSchema, undefined>] {
  if (parameter.kind === "number") {
    const message = `expected a whole number of ${parameter.unit} from 1 to ${parameter.most}`;
    const value = v.pipe(
      v.number(message),
      v.integer(message),
      v.minValue(1, message),
      v.maxValue(parameter.most, message),
    );
    return [parameter.name, v.exactOptional(value)];
  }
  const message = `expected ${parameter.unit}, such as ${JSON.stringify(parameter.stigValue)}`;
  const item = v.pipe(v.string(message), v.regex(/^[A-Za-z]+ ?= ?[^=]/, message), v.maxLength(500, message));
  return [parameter.name, v.exactOptional(v.pipe(list(item, parameter.unit), v.minLength(1, message)))];
}

function strict<const Entries extends v.ObjectEntries>(entries: Entries) {
  return v.strictObject(entries, (issue) => {
    if (issue.expected === "never")
      return `there is no member of this name: expected ${Object.keys(entries).join(", ")}`;
    return issue.received === "undefined" ? "is required" : "expected an object";
  });
}

/** An entry about access by zone, which names a zone. */
function withZones<const Entries extends v.ObjectEntries>(entries: Entries) {
  const zonesOf = (entry: ZoneLists) => [entry.zones_allowed ?? [], entry.zones_denied ?? []] as const;
  return v.pipe(
    strict({ ...entries, ...zoneLists }),
    v.check(
      (entry) => zonesOf(entry).some((zones) => zones.length > 0),
      "expected zones_allowed or zones_denied, with at least one zone",
    ),
    v.check((entry) => {
      const [allowed, denied] = zonesOf(entry);
      return !allowed.some((zone) => denied.includes(zone));
    }, "expected each zone in zones_allowed or in zones_denied, and not in both"),
  );
}

function list<Item extends v.GenericSchema>(item: Item, what: string) {
  return v.array(item, `expected a list of ${what}`);
}

/** A list in which each name stands once. */
function unique<Item extends v.GenericSchema>(item: Item, keyOf: (entry: v.InferOutput<Item>) => string, what: string) {
  return v.pipe(
    list(item, what),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const seen = new Set<string>();
      for (const [index, entry] of dataset.value.entries()) {
        const key = keyOf(entry);
        const at = { type: "array" as const, origin: "value" as const, input: dataset.value, key: index, value: entry };
        if (seen.has(key)) addIssue({ message: `stands twice in the list of ${what}`, path: [at] });
        seen.add(key);
      }
    }),
  );
}
