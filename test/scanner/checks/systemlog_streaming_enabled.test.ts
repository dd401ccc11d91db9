import { expect, test } from "vitest";
import { obtained, type JsonList } from "../../../scanner/evidence/artifacts.ts";
import { evaluate } from "../../support/artifact_builders.ts";

const check = "systemlog_streaming_enabled";
const stream = (status: unknown, name = "SIEM") => ({ id: `0oa${name}`, name, type: "aws_eventbridge", status });

test.each<[what: string, streams: JsonList, verdicts: readonly (readonly [string, string])[]]>([
  ["an inactive one", [stream("INACTIVE")], [["SIEM", "MANUAL"]]],
])("%s", (_, streams, verdicts) => {
  const result = evaluate(check, { log_streams: obtained(streams) });
  expect(result.findings.map(({ resource, status }) => [resource.name, status])).toEqual(verdicts);
});

test.each<[streams: JsonList, reason: string | null]>([[[], "needs_review"]])(
  "of %j the reason is %j",
  (streams, reason) => {
    const result = evaluate(check, { log_streams: obtained(streams) });
    expect(result).toMatchObject({ status: reason === null ? "PASS" : "MANUAL", reason });
    if (reason === "needs_review")
      expect(result.detail).toMatch(/DISA also accepts a SIEM that pulls the System Log by API/);
  },
);

test.each<[streams: JsonList, status: string, advisory: readonly boolean[]]>([
  [[stream(1, "A"), stream("ACTIVE", "B"), stream("INACTIVE", "C")], "PASS", [true, false]],
  [[stream("RESTING", "A"), stream("INACTIVE", "B")], "MANUAL", [false]],
])("of %j the check is %s", (streams, status, advisory) => {
  const result = evaluate(check, { log_streams: obtained(streams) });
  expect([result.status, result.findings.map((finding) => finding.advisory)]).toEqual([status, advisory]);
});
