import { expect, test } from "vitest";
import committedDiff from "../../../shared/diff.schema.json" with { type: "json" };
import committedReport from "../../../shared/report.schema.json" with { type: "json" };
import { describeDiff, describeReport } from "../../../tools/schemas.ts";

test.each([
  ["report.schema.json", committedReport, describeReport],
  ["diff.schema.json", committedDiff, describeDiff],
])("%s is what its schema gives: `npm run schemas` writes it", (_, committed, describe) => {
  expect(committed).toEqual(JSON.parse(JSON.stringify(describe())));
});
