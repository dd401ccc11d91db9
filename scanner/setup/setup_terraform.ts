import { join } from "node:path";
import { makeDirectory, writeWhole } from "../../command_line/files.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { optionalScopes, requiredScopes } from "./needs.ts";

/** The same setup as Terraform, for a Super Administrator to apply; the private key is not in it. */
export async function writeSetupTerraform(directory: string, orgUrl: string, publicJwk: string): Promise<string> {
  await makeDirectory(directory);
  const path = join(directory, "main.tf");
  const problem = await writeWhole({ option: "--output", path }, renderSetupTerraform(orgUrl, publicJwk));
  if (problem !== null) throw new UsageError([problem.replace("--output", "--terraform")]);
  return path;
}

function renderSetupTerraform(orgUrl: string, publicJwk: string): string {
  const { kty, kid, x, y } = JSON.parse(publicJwk) as Readonly<Record<string, string>>;
  const scopes = [...requiredScopes, ...Object.keys(optionalScopes)].map((scope) => `    "okta.${scope}",`);
  return `# The service app that scanstream reads ${orgUrl} with. Apply it as a Super Administrator:
# set OKTA_ORG_NAME and OKTA_BASE_URL, and the credentials that the provider asks for.

terraform {
  required_providers {
    okta = {
      source  = "okta/okta"
      version = "~> 6.12"
    }
  }
}

resource "okta_app_oauth" "scanstream" {
  label                      = "scanstream"
  type                       = "service"
  grant_types                = ["client_credentials"]
  response_types             = ["token"]
  token_endpoint_auth_method = "private_key_jwt"
  pkce_required              = false

  jwks {
    kty = ${JSON.stringify(kty)}
    kid = ${JSON.stringify(kid)}
    x   = ${JSON.stringify(x)}
    y   = ${JSON.stringify(y)}
  }
}

resource "okta_app_oauth_api_scope" "scanstream" {
  app_id = okta_app_oauth.scanstream.id
  issuer = ${JSON.stringify(orgUrl)}
  scopes = [
${scopes.join("\n")}
  ]
}

resource "okta_app_oauth_role_assignment" "scanstream" {
  client_id = okta_app_oauth.scanstream.client_id
  type      = "READ_ONLY_ADMIN"
}

output "client_id" {
  value = okta_app_oauth.scanstream.client_id
}
`;
}
