import { callCommand } from "../support/called_command.ts";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { obtained } from "../../scanner/evidence/artifacts.ts";
import { artifactsDocument } from "../../scanner/evidence/artifacts_document.ts";
import type { Report } from "../../shared/report.ts";
import { aScan, aSmartCardIdp, compliantArtifacts, dodCertificate, set } from "../support/artifact_builders.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const check = "idp_smart_card_dod_approved_ca";
const agency = "CN=Agency CA, O=Agency";

test.each([
  [undefined, "needs_review", "PASS"],
  ["O=Agency", "PASS", "needs_review"],
  ["+O=Agency", "PASS", "PASS"],
  ["+ OU=Lab; O=Agency", "PASS", "PASS"],
])("IDP_APPROVED_ISSUERS %j: an agency's own authority is %s, the DOD's %s", async (issuers, ofAgency, ofDod) => {
  const { stdout } = await evaluate(issuers);
  const [result] = (JSON.parse(stdout) as Report).checks;
  expect(result?.findings.map(({ resource, automated, reason }) => [resource.name, automated ?? reason])).toEqual([
    ["Agency", ofAgency],
    ["DOD", ofDod],
  ]);
});

test.each(["+", "+OU=DoD;", "OU=DoD;+O=Agency", "++O=Agency"])(
  "IDP_APPROVED_ISSUERS %j is refused",
  async (issuers) => {
    expect(await evaluate(issuers)).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(/IDP_APPROVED_ISSUERS is not a list of issuers/) as unknown,
    });
  },
);

async function evaluate(issuers: string | undefined) {
  const own = set(aSmartCardIdp({ id: "0oaAgency", name: "Agency" }), "protocol.credentials.trust.issuer", agency);
  const idps = [
    { idp: own, certificate: obtained({ ...dodCertificate, issuer: agency }) },
    { idp: aSmartCardIdp({ name: "DOD" }), certificate: obtained(dodCertificate) },
  ];
  const document = artifactsDocument({
    scan: aScan(),
    evaluatedAt: "2026-11-21T12:00:00.000Z",
    checks: [check],
    artifacts: compliantArtifacts({ smart_card_idps: obtained(idps) }),
  });
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "artifacts.json"), JSON.stringify(document));
  const args = ["evaluate", "--from-artifacts", "artifacts.json", "--format", "json"];
  const env = issuers === undefined ? {} : { IDP_APPROVED_ISSUERS: issuers };
  return await callCommand(args, { cwd: folder.path, env });
}
