import { expect, test } from "vitest";
import committed from "../../../shared/report.schema.json" with { type: "json" };
import { describeReport } from "../../../tools/schemas.ts";

test("report.schema.json is what the schema of the report gives: `npm run schemas` writes it", () => {
  expect(committed).toEqual(JSON.parse(JSON.stringify(describeReport())));
});
