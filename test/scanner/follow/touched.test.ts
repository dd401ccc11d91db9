import { expect, test } from "vitest";
import { toLogEvent } from "../../../scanner/follow/log_event.ts";
import { touchedBy } from "../../../scanner/follow/touched.ts";

// The time is that of minutes of work, were every answer compared with every event.
test("what 10,000 events of one poll touch is found among thousands of answers", { timeout: 15_000 }, () => {
  const policies = Array.from({ length: 3000 }, (_, index) => `rst${index}`);
  const list = { path: "/api/v1/policies?type=OKTA_SIGN_ON", ids: policies };
  const answers = policies.map((id) => ({ path: `/api/v1/policies/${id}/rules`, ids: [`0pr${id}`] }));
  const events = Array.from({ length: 10_000 }, (_, index) =>
    toLogEvent({
      uuid: `u${index}`,
      eventType: "policy.lifecycle.update",
      target: [{ id: policies[index % policies.length], type: "PolicyEntity" }],
    }),
  );
  const touched = touchedBy(
    events.filter((event) => event !== null),
    [list, ...answers],
  );
  expect(touched).toHaveLength(10_000);
  expect(touched[7]).toMatchObject({ paths: [list.path, answers[7]?.path], apps: [] });
});
