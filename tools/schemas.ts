import { writeFile } from "node:fs/promises";
import { toJsonSchema } from "@valibot/to-json-schema";
import { reportDefinitions, reportSchema } from "../shared/schemas/report.ts";

/** `npm run schemas` writes `shared/report.schema.json` from the schema of the report. */
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

if (import.meta.main) {
  const file = `${import.meta.dirname}/../shared/report.schema.json`;
  await writeFile(file, `${JSON.stringify(describeReport(), null, 2)}\n`);
}
