import { parse, type DefaultTreeAdapterTypes } from "parse5";
import { expect, test } from "vitest";
import { ruleStates } from "../../../shared/rule_result.ts";
import { aCheckResult, aFinding, aReport, everyVerdict, hostileText, renderAs } from "../../support/report_builders.ts";

/** One failing check over many resources, beside every verdict. */
const manyApps = Array.from({ length: 24 }, (_, index) => {
  const name = `App number ${index}`;
  const finding = { resource: { type: "app", id: `0oa${index}`, name }, expected: "network zones", actual: "none set" };
  const status = index % 6 === 0 ? "PASS" : "FAIL";
  return aFinding({ ...finding, status, detail: `App "${name}": expected network zones, found none set: see rule 1.` });
});
const report = aReport([...everyVerdict(), aCheckResult({ vuln_id: "V-1", findings: manyApps })]);

const text = renderAs("html", report);

type Node = DefaultTreeAdapterTypes.ChildNode;
type Element = DefaultTreeAdapterTypes.Element;

function elementsOf(nodes: readonly Node[]): readonly Element[] {
  return nodes.flatMap((node) => ("tagName" in node ? [node, ...elementsOf(node.childNodes)] : []));
}

/** Without what stands in closed details. */
function textOf(node: Node): string {
  if (node.nodeName === "#text") return (node as DefaultTreeAdapterTypes.TextNode).value;
  if (!("childNodes" in node)) return "";
  const shown = node.childNodes.filter(({ nodeName }) => node.nodeName !== "details" || nodeName === "summary");
  return shown.map(textOf).join("");
}

const attributeOf = (element: Element, name: string) => element.attrs.find((one) => one.name === name)?.value;
const elements = elementsOf(parse(text).childNodes);

test("asks for nothing outside itself, runs nothing, and shows a hostile name as text", () => {
  const policy = elements.find((one) => attributeOf(one, "http-equiv") === "content-security-policy");
  expect(policy === undefined ? "" : attributeOf(policy, "content")).toBe(
    "default-src 'none'; style-src 'unsafe-inline'",
  );
  for (const { tagName, attrs } of elements) {
    expect(["script", "iframe", "img", "link", "object", "form"]).not.toContain(tagName);
    for (const { name, value } of attrs) {
      expect(name).not.toMatch(/^on|^src$|^style$/);
      if (name === "href") expect(value).toMatch(/^(?:#|https:\/\/)/);
    }
  }
  const shown = elements.filter(({ tagName }) => tagName === "h4").map(textOf);
  expect(shown.find((title) => title.includes("HYPERLINK"))).toContain(
    hostileText.slice(0, hostileText.indexOf(" ]]>")),
  );
});

test("shows what a check expects once, and what was found once for each resource", () => {
  const section = elements.find((one) => attributeOf(one, "id") === "V-1");
  const shown = (section === undefined ? "" : textOf(section)).replaceAll(/\s+/g, " ");
  expect(shown.match(/network zones/g)).toHaveLength(1);
  expect(shown.match(/none set: see rule 1/g)).toHaveLength(20);
  expect(shown.match(/App number 1 /g)).toHaveLength(1);
  expect(shown).toContain("4 of 24 findings are not open");
});

test("the statement counts in DISA's words and says what the role cannot see and what the results rest on", () => {
  const unseen = aCheckResult({ vuln_id: "V-2", findings: [aFinding({ status: "MANUAL", reason: "missing_role" })] });
  const rests_on = '"AC policy" (approved by Jane Roe on 2026-11-01)';
  const decided = aCheckResult({ vuln_id: "V-3", findings: [aFinding({ status: "PASS", rests_on })] });
  const failing = aCheckResult({
    vuln_id: "V-4",
    category: "I",
    severity: "high",
    findings: [aFinding({ status: "FAIL" }), aFinding({ status: "PASS", rests_on })],
  });
  const { scan } = report;
  const of = aReport([unseen, decided, failing], {
    scan: { ...scan, role: "read_only_admin" },
    evidence_sha256: "ab".repeat(32),
    org_policy: {
      reference: "AC policy",
      approved_by: "Jane Roe",
      approved_on: "2026-11-01",
      expires: "2027-11-01",
      standing: "in_force",
      sha256: "cd".repeat(32),
    },
  });
  const header = elementsOf(parse(renderAs("html", of)).childNodes).find(({ tagName }) => tagName === "header");
  const shown = (header === undefined ? "" : textOf(header)).replaceAll(/\s+/g, " ");
  expect(shown).toContain("It cannot see what these rules need: V-2.");
  expect(shown).toContain(
    '"AC policy", approved by Jane Roe on 2026-11-01, decides 1 rule until 2027-11-01: V-3, and a part of 1 rule: V-4.',
  );
  expect(shown).toContain("ab".repeat(32));
  expect(shown).toMatch(/Open ?Not Reviewed ?Not a Finding ?Not Applicable CAT I 1 0 0 0 CAT II 0 1 1 0/);
  expect(shown).toMatch(/Name Date Signature/);
});

test.each([ruleStates, ["manual"] as const])("every link leads to a place of the page that lists %j", (...states) => {
  const finding = aFinding({ cause: "000000000001" });
  const object = { type: "policy", id: "00p1", name: "Default Policy" } as const;
  const cause = { id: "000000000001", object, change: "Set it", checks: [], closes: [], findings: 1, fingerprints: [] };
  const planned = aReport([aCheckResult({ findings: [finding] }), ...everyVerdict().slice(2)], { causes: [cause] });
  const page = elementsOf(parse(renderAs("html", planned, { states })).childNodes);
  const ids = new Set(page.map((element) => attributeOf(element, "id")));
  const links = page.flatMap((element) => attributeOf(element, "href") ?? []);
  expect(links.length).toBeGreaterThan(2);
  expect(links.filter((link) => !ids.has(link.slice(1)))).toEqual([]);
});
