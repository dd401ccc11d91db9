import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { reportFormats } from "../../../scanner/reports/formats.ts";
import type { Report } from "../../../shared/report.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { requireProgram } from "../../support/machine_tools.ts";
import { aCheckResult, aFinding, aReport, renderAs } from "../../support/report_builders.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

const hostileTexts: readonly (readonly [name: string, text: string])[] = [
  [
    "control characters, noncharacters and halves of characters",
    `${String.fromCharCode(...Array.from({ length: 0xa0 }, (_, code) => code))}\ud800b\udc00\ud800\ufffe\uffff\ufdd0\u{1fffe}\u202e\u2066\ufeff`,
  ],
  [
    "markup",
    `</script><script>alert(1)</script>' " & < > ]]> <![CDATA[ ]]> --> <!-- -- <?xml version='2'?> <!DOCTYPE x [<!ENTITY y SYSTEM 'file:///'>]> &y;`,
  ],
  ["line ends and percent signs", "a\rb\nc\r\nd\u2028e\u0085f %E0%A4%A %% .. ../.."],
  ["100 kB of wide characters and half of one", `${"😀".repeat(25_000)}\ud83d`],
];

/** The text at every place of a report which a provider, a person who decides, or a stored report can fill. */
function reportWith(text: string): Report {
  const waiver = { reason: text, expires: text };
  const attestation = { status: "FAIL", reason: text, by: text, expires: text } as const;
  const findings = (["FAIL", "MANUAL", "PASS"] as const).map((status) =>
    aFinding({
      status,
      resource: { type: text, id: text, name: text },
      expected: text,
      actual: text,
      detail: text,
      fingerprint: text,
      waived: status === "FAIL",
      waiver: status === "FAIL" ? waiver : null,
    }),
  );
  const report = aReport([
    aCheckResult({ findings, detail: text, attestation, title: text, check: text, stig_id: text }),
    aCheckResult({ findings: findings.slice(1), detail: text, attestation, title: text, vuln_id: text }),
  ]);
  const { scan } = report;
  return { ...report, scan: { ...scan, id: text, org_url: text, client_id: text, granted_scopes: [text] } };
}

test.each(reportFormats.map(({ name }) => name))(
  "%s is written of a report with any text in every place",
  async (name) => {
    const xmlFiles: string[] = [];
    for (const [what, text] of hostileTexts) {
      const rendered = renderAs(name, reportWith(text));
      expect(rendered.isWellFormed(), what).toBe(true);
      expect(rendered.includes("\u0000"), what).toBe(false);
      if (name === "ckl" || name === "xccdf" || name === "junit") {
        const file = join(folder.path, `${name} of ${what}.xml`);
        await writeFile(file, rendered);
        xmlFiles.push(file);
      }
      if (/json|sarif|ocsf|oscal|cklb|hdf/.test(name)) {
        // Many parsers refuse the escape of half a character, and so does a database's JSON column.
        expect(/\\ud[89a-f][0-9a-f]{2}/.test(rendered), what).toBe(false);
        JSON.parse(rendered);
      }
    }
    if (xmlFiles.length > 0) await promisify(execFile)(await requireProgram("xmllint"), ["--noout", ...xmlFiles]);
  },
);
