import * as v from "valibot";

/** `scanstream.config.json`: what a scan is told in a file. Each option is described where the command line has it. */

const text = v.pipe(v.string("expected a text"), v.nonEmpty("must not be empty"));
const list = v.union([text, v.array(text)], "expected a text, or a list of texts");
const file = v.pipe(text, v.description("A path, relative to this file"));

/** Organization that is scanned, and the client that scans it. */
const connectionEntries = {
  org_url: v.exactOptional(v.pipe(text, v.description("IDP_ORG_URL: https://acme.okta.com"))),
  client_id: v.exactOptional(v.pipe(text, v.description("IDP_CLIENT_ID"))),
  private_key_file: v.exactOptional(file),
  private_key_env: v.exactOptional(
    v.pipe(
      text,
      v.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "expected the name of a variable, such as ACME_PRIVATE_KEY"),
      v.description("The variable that holds the private key: never the key itself"),
    ),
  ),
  private_key_id: v.exactOptional(v.pipe(text, v.description("IDP_PRIVATE_KEY_ID"))),
  scopes: v.exactOptional(v.pipe(v.array(text, "expected a list of texts"), v.description("IDP_SCOPES"))),
  scope_prefix: v.exactOptional(v.picklist(["okta", "idp"], "expected okta or idp")),
  approved_issuers: v.exactOptional(
    v.pipe(v.array(text, "expected a list of texts"), v.description("IDP_APPROVED_ISSUERS")),
  ),
};

const optionEntries = {
  format: v.exactOptional(list),
  output: v.exactOptional(file),
  fail_on: v.exactOptional(text),
  fail_on_new: v.exactOptional(v.boolean("expected true or false")),
  allow_unread: v.exactOptional(v.boolean("expected true or false")),
  poam_per_finding: v.exactOptional(v.boolean("expected true or false")),
  check: v.exactOptional(list),
  exclude: v.exactOptional(list),
  severity: v.exactOptional(list),
  status: v.exactOptional(list),
  parameters: v.exactOptional(file),
  benchmark: v.exactOptional(file),
  waivers: v.exactOptional(file),
  attestations: v.exactOptional(file),
  decisions_from_gateway: v.exactOptional(v.boolean("expected true or false")),
  checklist: v.exactOptional(file),
  baseline: v.exactOptional(file),
  concurrency: v.exactOptional(v.number("expected a number")),
  timeout: v.exactOptional(v.number("expected a number of seconds")),
  stream: v.exactOptional(v.boolean("expected true or false")),
};

const defaultsSchema = v.strictObject({ ...connectionEntries, ...optionEntries });

const organizationSchema = v.strictObject({
  name: v.pipe(
    text,
    v.regex(
      /^(?![Ss]ummary\.)[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
      "expected a name for a folder: at most 64 letters, figures, dots, hyphens and underscores",
    ),
    v.description("Names its folder below `output`, and `--org`"),
  ),
  ...connectionEntries,
  ...optionEntries,
  save_artifacts: v.exactOptional(file),
});

export const configSchema = v.strictObject({
  $schema: v.exactOptional(text),
  defaults: v.exactOptional(v.pipe(defaultsSchema, v.description("For every organization, or for the only one"))),
  parallel: v.exactOptional(
    v.pipe(v.number("expected a number"), v.description("How many organizations to scan at the same time")),
  ),
  organizations: v.exactOptional(
    v.pipe(
      v.array(organizationSchema, "expected a list"),
      v.minLength(1, "expected at least one organization"),
      v.maxLength(500, "expected 500 organizations at most"),
    ),
  ),
});

export type ScanDefaults = v.InferOutput<typeof defaultsSchema>;
export type OrganizationConfig = v.InferOutput<typeof organizationSchema>;
export type ConfigContent = v.InferOutput<typeof configSchema>;

export const topMembers = Object.keys(configSchema.entries);
export const defaultsMembers = Object.keys(defaultsSchema.entries);
export const organizationMembers = Object.keys(organizationSchema.entries);
