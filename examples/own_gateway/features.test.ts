import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ended, NotFound, PermissionDenied } from "scanstream/gateway";
import { openTestDatabase, recordEvents, type TestDatabase, type TestTenant } from "scanstream/gateway/testing";
import * as own from "./features.ts";

let database: TestDatabase;
let acme: TestTenant;
let globex: TestTenant;
before(async () => {
  database = await openTestDatabase({ features: own.features });
  [acme, globex] = await Promise.all([database.createTenant("Acme"), database.createTenant("Globex")]);
});
after(() => database.close());

const nowhere = { params: { id: "00000000-0000-4000-8000-000000000000" } };

test("getChannels of a job: its channel, the end, and NotFound for another tenant", async () => {
  const stored = [{ tenantId: acme.id }, { tenantId: acme.id, endedAt: new Date() }];
  const [job, over] = await acme.write((db) => db.insert(own.jobs).values(stored).returning());
  assert.ok(job !== undefined && over !== undefined);
  const params = { id: job.id };
  assert.deepEqual(await acme.getChannels(own.jobStream, { params }), [`job:${acme.id}:${job.id}`]);
  const channels = await acme.getChannels(own.jobStream, { params: { id: over.id } });
  assert.deepEqual(channels, ended(`job:${acme.id}:${over.id}`));
  await assert.rejects(globex.getChannels(own.jobStream, { params }), NotFound);
  await assert.rejects(acme.getChannels(own.jobStream, nowhere), NotFound);
});

test("getChannels of an answer: for who asked, and PermissionDenied for others of the tenant", async () => {
  const stored = { tenantId: acme.id, createdBy: "ada" };
  const [answer] = await acme.write((db) => db.insert(own.answers).values(stored).returning());
  assert.ok(answer !== undefined);
  const params = { id: answer.id };
  assert.deepEqual(await acme.getChannels(own.answerStream, { params, userId: "ada" }), [
    `answer:${acme.id}:${answer.id}`,
  ]);
  await assert.rejects(acme.getChannels(own.answerStream, { params, userId: "grace" }), PermissionDenied);
  await assert.rejects(globex.getChannels(own.answerStream, { params, userId: "ada" }), NotFound);
  await assert.rejects(acme.getChannels(own.answerStream, nowhere), NotFound);
});

test("getChannels of a board: for everybody of its tenant", async () => {
  const [board] = await globex.write((db) => db.insert(own.boards).values({ tenantId: globex.id }).returning());
  assert.ok(board !== undefined);
  const params = { id: board.id };
  assert.deepEqual(await globex.getChannels(own.boardStream, { params }), [`board:${globex.id}:${board.id}`]);
  await assert.rejects(acme.getChannels(own.boardStream, { params }), NotFound);
});

test("a producer's channel has the tenant of the resource", () => {
  const resource = { tenantId: globex.id, id: nowhere.params.id };
  assert.equal(own.jobChannel(resource), `job:${globex.id}:${resource.id}`);
  assert.equal(own.answerChannel(resource), `answer:${globex.id}:${resource.id}`);
  assert.equal(own.boardChannel(resource), `board:${globex.id}:${resource.id}`);
});

test("each publish function sends its type with a flat payload", async () => {
  const publisher = recordEvents();
  const id = nowhere.params.id;
  const resource = { tenantId: acme.id, id };
  const [job, answer, board] = [own.jobChannel(resource), own.answerChannel(resource), own.boardChannel(resource)];
  await own.jobEvents(publisher).publishJobProgress(job, { job_id: id, done: 1, total: 2 });
  await own.jobEvents(publisher).publishJobEnd(job, { job_id: id, status: "failed" });
  await own.answerEvents(publisher).publishAnswerDelta(answer, { answer_id: id, index: 0, text: "Hel" });
  await own.answerEvents(publisher).publishAnswerEnd(answer, id);
  await own.cardEvents(publisher).publishCardUpdated(board, { card_id: id, version: 7 });
  assert.deepEqual(publisher.events, [
    { channel: job, type: "job.progress", data: { job_id: id, done: 1, total: 2 } },
    { channel: job, type: "job.end", data: { job_id: id, status: "failed" } },
    { channel: answer, type: "answer.delta", data: { answer_id: id, index: 0, text: "Hel" } },
    { channel: answer, type: "answer.end", data: { answer_id: id } },
    { channel: board, type: "card.updated", data: { card_id: id, version: 7 } },
  ]);
});
