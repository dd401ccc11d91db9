import { eq, sql } from "drizzle-orm";
import { pgTable, text, timestamp, uuid } from "drizzle-orm/pg-core";
import { Hono } from "hono";
import * as gateway from "scanstream/gateway";

const owned = { id: uuid("id").primaryKey().defaultRandom(), tenantId: uuid("tenant_id").notNull() };
const jobColumns = { ...owned, endedAt: timestamp("ended_at", { withTimezone: true }) };
const answerColumns = { ...owned, createdBy: text("created_by").notNull() };
export const jobs = pgTable("jobs", jobColumns, ({ tenantId }) => gateway.tenantPolicy("jobs", tenantId));
export const answers = pgTable("answers", answerColumns, ({ tenantId }) => gateway.tenantPolicy("answers", tenantId));
export const boards = pgTable("boards", owned, ({ tenantId }) => gateway.tenantPolicy("boards", tenantId));

/** A channel has the tenant of its resource, whoever asks. */
type Owned = { readonly id: string; readonly tenantId: string };
export const jobChannel = ({ tenantId, id }: Owned) => gateway.makeChannelName("job", tenantId, id);
export const answerChannel = ({ tenantId, id }: Owned) => gateway.makeChannelName("answer", tenantId, id);
export const boardChannel = ({ tenantId, id }: Owned) => gateway.makeChannelName("board", tenantId, id);

type Checkpoint = { readonly job_id: string; readonly done: number; readonly total: number };
type JobEnd = { readonly job_id: string; readonly status: "succeeded" | "failed" };
type AnswerDelta = { readonly answer_id: string; readonly index: number; readonly text: string };
type CardChange = { readonly card_id: string; readonly version: number };

export const jobEvents = ({ sendEvent }: gateway.Publisher) => ({
  publishJobProgress: (channel: string, payload: Checkpoint) => sendEvent(channel, "job.progress", payload),
  publishJobEnd: (channel: string, payload: JobEnd) => sendEvent(channel, "job.end", payload),
});
export const answerEvents = ({ sendEvent }: gateway.Publisher) => ({
  publishAnswerDelta: (channel: string, payload: AnswerDelta) => sendEvent(channel, "answer.delta", payload),
  publishAnswerEnd: (channel: string, answerId: string) => sendEvent(channel, "answer.end", { answer_id: answerId }),
});
export const cardEvents = ({ sendEvent }: gateway.Publisher) => ({
  publishCardUpdated: (channel: string, payload: CardChange) => sendEvent(channel, "card.updated", payload),
});

export const jobStream = gateway.defineEventStream({
  prefix: "job",
  async getChannels({ db, params }) {
    const [job] = await db.select().from(jobs).where(eq(jobs.id, params.id));
    if (job === undefined) throw new gateway.NotFound("No such job");
    return job.endedAt === null ? [jobChannel(job)] : gateway.ended(jobChannel(job));
  },
});

export const answerStream = gateway.defineEventStream({
  prefix: "answer",
  async getChannels({ principal, db, params }) {
    const [answer] = await db.select().from(answers).where(eq(answers.id, params.id));
    if (answer === undefined) throw new gateway.NotFound("No such answer");
    if (answer.createdBy !== principal.id) throw new gateway.PermissionDenied("Only who asked may read the answer");
    return [answerChannel(answer)];
  },
});

export const boardStream = gateway.defineEventStream({
  prefix: "board",
  async getChannels({ db, params }) {
    const [board] = await db.select().from(boards).where(eq(boards.id, params.id));
    if (board === undefined) throw new gateway.NotFound("No such board");
    return [boardChannel(board)];
  },
});

const jobCheckpoints = gateway.defineFeature({
  prefix: "job",
  tables: [jobs, answers, boards],
  migrations: () => new URL("migrations", import.meta.url),
  eventStreams: { "/jobs": jobStream },
  events: jobEvents,
  routes: ({ events }) =>
    new Hono<gateway.Allowed>()
      .post("/jobs", gateway.allow("publish"), async (c) => {
        const owner = { tenantId: c.var.principal.tenantId };
        return c.json((await c.var.write((db) => db.insert(jobs).values(owner).returning()))[0], 201);
      })
      .post("/jobs/:id{[0-9a-f]{4}(?:-?[0-9a-f]{4}){7}}/end", gateway.allow("publish"), async (c) => {
        const isJob = eq(jobs.id, c.req.param("id"));
        const [job] = await c.var.write((db) =>
          db
            .update(jobs)
            .set({ endedAt: sql`now()` })
            .where(isJob)
            .returning(),
        );
        if (job === undefined) throw new gateway.NotFound("No such job");
        // Stored before: a client that reads the job after the event finds it ended.
        await events.publishJobEnd(jobChannel(job), { job_id: job.id, status: "succeeded" });
        return c.json(job);
      }),
});

export const features = [
  jobCheckpoints,
  gateway.defineFeature({ prefix: "answer", eventStreams: { "/answers": answerStream } }),
  gateway.defineFeature({ prefix: "board", eventStreams: { "/boards": boardStream } }),
];
