import type { Environment } from "../../../command_line/command_io.ts";
import { withAliases } from "../../setting_aliases.ts";
import type { ScanFlags } from "../scan_command.ts";
import type { ScanDefaults } from "./config_schema.ts";

/** Inputs of a scan. */
export interface ScanInputs {
  readonly flags: ScanFlags;
  readonly env: Environment;
}

type Members = ScanDefaults & { readonly save_artifacts?: string };

/** For the only organization: an option wins over a variable, a variable over the file. */
export function inputsOfDefaults(defaults: Members, { flags, env }: ScanInputs): ScanInputs {
  const given = setVariables(env);
  const hasKey = given["IDP_PRIVATE_KEY"] !== undefined || given["IDP_PRIVATE_KEY_FILE"] !== undefined;
  const fromFile = { ...identityVariables(defaults, env), ...otherVariables(defaults) };
  return {
    flags: { ...optionFlags(defaults), ...flags },
    env: { ...(hasKey ? without(fromFile, keyVariables) : fromFile), ...given },
  };
}

/**
 * For an organization of the list. The variables of address and key name one organization, so what the list says of one wins
 * over them; else they would make every scan one of the same.
 */
export function inputsOfOrganization(organization: Members, defaults: Members, { flags, env }: ScanInputs): ScanInputs {
  const hasOwnKey = organization.private_key_file !== undefined || organization.private_key_env !== undefined;
  const { private_key_file: _file, private_key_env: _env, private_key_id: _id, ...keyless } = defaults;
  const members = { ...(hasOwnKey ? keyless : defaults), ...organization };
  const identity = identityVariables(members, env);
  const given = setVariables(env);
  const hasKey = keyVariables.some((name) => identity[name] !== undefined);
  return {
    flags: { ...optionFlags(members), ...flags },
    env: { ...otherVariables(members), ...(hasKey ? without(given, keyVariables) : given), ...identity },
  };
}

const keyVariables = ["IDP_PRIVATE_KEY", "IDP_PRIVATE_KEY_FILE", "IDP_PRIVATE_KEY_ID"] as const;

function identityVariables(members: Members, env: Environment): Environment {
  const { private_key_env: keyVariable } = members;
  return defined({
    IDP_ORG_URL: members.org_url,
    IDP_CLIENT_ID: members.client_id,
    IDP_PRIVATE_KEY: keyVariable === undefined ? undefined : env[keyVariable],
    IDP_PRIVATE_KEY_FILE: members.private_key_file,
    IDP_PRIVATE_KEY_ID: members.private_key_id,
  });
}

function otherVariables({ scopes, scope_prefix: prefix, approved_issuers: issuers }: Members): Environment {
  return defined({
    IDP_SCOPES: scopes?.join(" "),
    IDP_SCOPE_PREFIX: prefix,
    IDP_APPROVED_ISSUERS: issuers?.join(";"),
  });
}

function optionFlags(members: Members): ScanFlags {
  const listed = (value: string | readonly string[] | undefined) =>
    typeof value === "object" ? value.join(",") : value;
  return defined({
    format: listed(members.format),
    output: members.output,
    failOn: members.fail_on,
    failOnNew: members.fail_on_new,
    allowUnread: members.allow_unread,
    poamPerFinding: members.poam_per_finding,
    check: listed(members.check),
    exclude: listed(members.exclude),
    severity: listed(members.severity),
    status: listed(members.status),
    parameters: members.parameters,
    benchmark: members.benchmark,
    waivers: members.waivers,
    attestations: members.attestations,
    decisionsFromGateway: members.decisions_from_gateway,
    checklist: members.checklist,
    baseline: members.baseline,
    concurrency: members.concurrency?.toString(),
    timeout: members.timeout?.toString(),
    stream: members.stream,
    saveArtifacts: members.save_artifacts,
  });
}

/** An empty variable is as one that is not set. */
export function setVariables(env: Environment): Environment {
  return Object.fromEntries(
    Object.entries(withAliases(env).env).flatMap(([name, value]) =>
      typeof value === "string" && value.trim() !== "" ? [[name, value]] : [],
    ),
  );
}

function without(env: Environment, names: readonly string[]): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));
}

function defined<Members extends object>(
  members: Members,
): { [Name in keyof Members]?: Exclude<Members[Name], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Members]?: Exclude<Members[Name], undefined>;
  };
}
