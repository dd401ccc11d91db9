import { expect, test } from "vitest";
import { createRememberedAnswers, type SavedAnswers } from "../../../scanner/evidence/remembered_answers.ts";
import type { IdpClient } from "../../../scanner/okta/idp_client.ts";

const request = { path: "/api/v1/groups/00g1/roles", scope: "roles.read" } as const;

/** Answers with how often it was asked. */
function countingClient() {
  let count = 0;
  const source: IdpClient = {
    getObject: async () => ({ state: "obtained", value: { count: (count += 1) } }),
    getList: async () => ({ state: "obtained", value: [] }),
  };
  return () => source;
}

test("an answer that was forgotten is asked for again, also by the process after a restart", async () => {
  const source = countingClient();
  const first = createRememberedAnswers({ source });
  const countOf = async (answers: typeof first) => (await answers.getObject(request)) as unknown;
  expect(await countOf(first)).toMatchObject({ value: { count: 1 } });
  expect(await countOf(first)).toMatchObject({ value: { count: 1 } });

  // A role of a group that no owner of a token is in at the moment: nothing asks for it until one joins.
  first.forget([request.path]);
  const saved = JSON.parse(JSON.stringify(first.saved())) as SavedAnswers;
  const second = createRememberedAnswers({ source, saved });
  const third = createRememberedAnswers({ source, saved: JSON.parse(JSON.stringify(second.saved())) as SavedAnswers });
  expect(await countOf(third)).toMatchObject({ value: { count: 2 } });
  expect(await countOf(third)).toMatchObject({ value: { count: 2 } });
  const fourth = createRememberedAnswers({ source, saved: JSON.parse(JSON.stringify(third.saved())) as SavedAnswers });
  expect(await countOf(fourth)).toMatchObject({ value: { count: 2 } });
});
