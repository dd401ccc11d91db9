import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Ajv } from "ajv";
import formats from "ajv-formats";
import { expect, test } from "vitest";
import { createVex, type Answer, type Audit, type Sbom } from "../../tools/release/vex.ts";

/** CycloneDX's own schema, with the two that it refers to. */
async function cyclonedxErrors(document: object): Promise<unknown> {
  const folder = join(
    dirname(createRequire(import.meta.url).resolve("@cyclonedx/cyclonedx-library/package.json")),
    "res/schema",
  );
  const read = async (name: string) =>
    JSON.parse(await readFile(join(folder, `${name}.SNAPSHOT.schema.json`), "utf8")) as object;
  const ajv = new Ajv({ strict: false, formats: { "idn-email": true, "iri-reference": true } });
  formats.default(ajv);
  for (const name of ["spdx", "jsf-0.82"]) {
    ajv.addSchema({ ...(await read(name)), $id: `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json` });
  }
  const validate = ajv.compile(await read("bom-1.6"));
  validate(document);
  return validate.errors;
}

const sbom: Sbom = {
  components: [
    { name: "undici", purl: "pkg:npm/undici@8.12.4" },
    { group: "@hono", name: "node-server", purl: "pkg:npm/%40hono/node-server@2.1.8" },
  ],
};
const advisory = (name: string, id: string) => ({
  name,
  title: "Something happens",
  url: `https://github.com/advisories/${id}`,
  severity: "moderate",
  cwe: ["CWE-400"],
  cvss: { score: 5.3, vectorString: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:L" },
});
const audit: Audit = {
  vulnerabilities: {
    undici: { via: [advisory("undici", "GHSA-aaaa-bbbb-cccc")] },
    "@hono/node-server": { via: ["undici", advisory("@hono/node-server", "GHSA-dddd-eeee-ffff")] },
    vitest: { via: [advisory("vitest", "GHSA-gggg-hhhh-iiii")] },
  },
};
const answer: Answer = {
  package: "undici",
  state: "not_affected",
  justification: "code_not_reachable",
  detail: "The scanner never uses it.",
  reviewed: "2026-11-25",
};
const answers = {
  "GHSA-aaaa-bbbb-cccc": answer,
  "GHSA-dddd-eeee-ffff": { ...answer, package: "@hono/node-server" },
};
const now = new Date("2026-11-25T12:00:00Z");

test("a VEX with answers, and one without vulnerabilities, are valid CycloneDX", async () => {
  const { document, problems } = createVex({ audit, sbom, answers }, now);
  expect(problems).toEqual([]);
  expect(document).toMatchObject({
    vulnerabilities: [
      { id: "GHSA-aaaa-bbbb-cccc", affects: [{ ref: "pkg:npm/undici@8.12.4" }], analysis: { state: "not_affected" } },
      { id: "GHSA-dddd-eeee-ffff" },
    ],
  });
  expect(await cyclonedxErrors(document)).toBeNull();
  expect(
    await cyclonedxErrors({ ...document, vulnerabilities: [{ ratings: [{ severity: "moderate" }] }] }),
  ).not.toBeNull();
  expect(
    await cyclonedxErrors(createVex({ audit: { vulnerabilities: {} }, sbom, answers: {} }, now).document),
  ).toBeNull();
});

test("what is not answered, answered for another package, without a reason, or out of date is named", () => {
  const { justification: _, ...withoutReason } = answer;
  const { problems } = createVex(
    {
      audit,
      sbom,
      answers: {
        "GHSA-aaaa-bbbb-cccc": withoutReason,
        "GHSA-dddd-eeee-ffff": answer,
        "GHSA-old1-old2-old3": answer,
      },
    },
    now,
  );
  expect(problems).toEqual([
    expect.stringMatching(/^GHSA-aaaa.* in undici: .*lacks a justification$/),
    expect.stringMatching(/^GHSA-dddd.* in @hono\/node-server: .*expected a version without it/),
    expect.stringMatching(/^GHSA-old1.*remove the answer$/),
  ]);
});
