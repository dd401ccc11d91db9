import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";

export const root = dirname(dirname(import.meta.dirname));

export interface Group {
  readonly title: string;
  /** From the root of the repository. */
  readonly files: readonly string[];
}

/** The documents by type: tutorial, how-to, reference, explanation. A document that no group names comes last. */
const groups: readonly Group[] = [
  {
    title: "Tutorials",
    files: ["README.md", "docs/install.md", "docs/setup.md", "docs/follow.md", "docs/features.md"],
  },
  {
    title: "How-to guides: scan and review",
    files: [
      "docs/ci.md",
      "docs/reports.md",
      "docs/gates.md",
      "docs/decisions.md",
      "docs/revisions.md",
      "docs/history.md",
      "docs/signing.md",
      "docs/company_rules.md",
      "docs/fix.md",
    ],
  },
  {
    title: "How-to guides: run a gateway",
    files: [
      "docs/deploy.md",
      "docs/operate.md",
      "docs/stig_deployment.md",
      "docs/sign_in.md",
      "docs/keeping.md",
      "docs/webhooks.md",
      "docs/clients.md",
      "docs/load.md",
    ],
  },
  {
    title: "Reference",
    files: [
      "docs/glossary.md",
      "docs/cli.md",
      "docs/reference/commands.md",
      "docs/reference/environment.md",
      "docs/reference/exit_codes.md",
      "docs/permissions.md",
      "docs/verdicts.md",
    ],
  },
  {
    title: "Explanation",
    files: [
      "docs/compare.md",
      "docs/promises.md",
      "docs/reliability.md",
      "docs/performance.md",
      "docs/scale.md",
      "docs/approval.md",
      "docs/threat_model.md",
      "docs/threat_model_details.md",
      "docs/fips.md",
      "SECURITY.md",
    ],
  },
  { title: "Project", files: ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md"] },
];

/** Every group with its files, and last those of `docs/` that no group names. */
export async function navigation(): Promise<readonly Group[]> {
  const named = new Set(groups.flatMap(({ files }) => files));
  const found = (await readdir(join(root, "docs"))).filter((name) => name.endsWith(".md"));
  const others = found.map((name) => `docs/${name}`).filter((file) => !named.has(file));
  return others.length === 0 ? groups : [...groups, { title: "More", files: others.toSorted() }];
}
