import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";

export const root = dirname(dirname(import.meta.dirname));

export interface Group {
  readonly title: string;
  /** From the root of the repository. */
  readonly files: readonly string[];
}

/** The documents, by who reads them. One that stands nowhere here comes last of all. */
const groups: readonly Group[] = [
  { title: "Start", files: ["README.md", "docs/install.md", "docs/compare.md"] },
  {
    title: "Scan",
    files: [
      "docs/cli.md",
      "docs/verdicts.md",
      "docs/ci.md",
      "docs/reports.md",
      "docs/gates.md",
      "docs/decisions.md",
      "docs/company_rules.md",
      "docs/fix.md",
      "docs/rate_limiting.md",
    ],
  },
  { title: "Follow", files: ["docs/follow.md", "docs/clients.md", "docs/webhooks.md"] },
  {
    title: "Run a gateway",
    files: [
      "docs/deploy.md",
      "docs/sign_in.md",
      "docs/permissions.md",
      "docs/keeping.md",
      "docs/scale.md",
      "docs/load.md",
      "docs/features.md",
    ],
  },
  {
    title: "Trust",
    files: ["docs/promises.md", "docs/reliability.md", "docs/performance.md", "docs/threat_model.md", "SECURITY.md"],
  },
  {
    title: "Reference",
    files: [
      "docs/glossary.md",
      "docs/reference/commands.md",
      "docs/reference/environment.md",
      "docs/reference/exit_codes.md",
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
