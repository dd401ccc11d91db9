import { writeFile } from "node:fs/promises";
import { toJsonSchema } from "@valibot/to-json-schema";
import { diffSchema } from "../shared/schemas/diff.ts";
import { reportDefinitions, reportSchema } from "../shared/schemas/report.ts";

/** `npm run schemas` writes `shared/*.schema.json` from the schemas of what the command line writes. */
export function describeReport(): unknown {
  const { $schema, ...described } = toJsonSchema(reportSchema, {
    target: "draft-2020-12",
    definitions: reportDefinitions,
  });
  return {
    $schema,
    $id: "https://scanstream.dev/schemas/report/1",
    title: "scanstream report, version 1.1",
    description: "One scan of an identity provider: what was asked, what was found, and on which evidence.",
    ...described,
  };
}

export function describeDiff(): unknown {
  const { $schema, ...described } = toJsonSchema(diffSchema, { target: "draft-2020-12" });
  return {
    $schema,
    $id: "https://scanstream.dev/schemas/diff/1",
    title: "scanstream diff, version 1",
    description:
      "What differs between two scans of an organization: findings, and where the evidence is there, configuration.",
    ...described,
  };
}

if (import.meta.main) {
  const folder = `${import.meta.dirname}/../shared`;
  await writeFile(`${folder}/report.schema.json`, `${JSON.stringify(describeReport(), null, 2)}\n`);
  await writeFile(`${folder}/diff.schema.json`, `${JSON.stringify(describeDiff(), null, 2)}\n`);
}
