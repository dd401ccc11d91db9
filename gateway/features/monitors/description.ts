import * as v from "valibot";
import { changeSchema, newChangesSchema, storedChangesSchema } from "../../../shared/schemas/change.ts";
import {
  doorbellSchema,
  monitorEventSchemas,
  monitorSchema,
  verificationSchema,
} from "../../../shared/schemas/monitor.ts";
import { monitorUpdateSchema, newMonitorSchema } from "../../../shared/schemas/monitor_requests.ts";
import { pageOf } from "../../../shared/schemas/page.ts";
import { text, uuid } from "../../../shared/schemas/primitives.ts";
import {
  bodyRefusals,
  component,
  emptyResponse,
  json,
  jsonBody,
  keyOnly,
  listAnswer,
  pageParameters,
  pathParameter,
  problem,
  refusals,
  snapshotParameter,
  streamAnswer,
  streamSecurity,
  toInlineSchema,
  withoutCredentials,
  type FeatureDescription,
} from "../../http/docs/feature_description.ts";
import { changeExample, monitorExample, newMonitorExample, storedChangeExample } from "./description_examples.ts";
import { monitorPrefix } from "./events.ts";

const Monitor = component("Monitor", monitorSchema);
const Change = component("Change", changeSchema);
const MonitorPage = component("MonitorPage", pageOf(Monitor));
const ChangePage = component("ChangePage", pageOf(Change));
const StoredChanges = component("StoredChanges", storedChangesSchema);
const Doorbell = component("Doorbell", doorbellSchema);
const Verification = component("Verification", verificationSchema);

const parameters = [pathParameter("id", "The monitor's id", uuid())];
const noSuchMonitor = { 404: problem("No such monitor in this tenant") };
const hasEnded = { 409: problem("The monitor has ended") };
const noSuchHook = { 404: problem("No such hook") };
const filter = (name: string) => ({ name, in: "query" as const, schema: toInlineSchema(text(1, 200)) });

export const monitorsDescription: FeatureDescription = {
  tags: [
    { name: "monitors", description: "The verdicts of an org, kept up to date, and how they moved" },
    { name: "hooks", description: "What the provider calls" },
  ],
  operations: {
    "PUT /api/v1/monitors/:id": {
      operationId: "putMonitor",
      tags: ["monitors"],
      summary: "Start a monitor",
      description:
        "Under an id that the client made and keeps: sent again it is a restart of the same monitor, with another " +
        "interval where the body has one. Publishes `monitor.start`.",
      security: keyOnly,
      parameters,
      requestBody: jsonBody(newMonitorSchema, newMonitorExample),
      responses: {
        200: json(Monitor, "Started again", { headers: ["Location"] }),
        201: json(Monitor, "Registered", { headers: ["Location"], example: monitorExample }),
        ...bodyRefusals,
        ...noSuchMonitor,
        409: problem("The monitor has ended, or follows another org"),
        410: problem("The monitor was deleted: its id is not used again"),
      },
    },
    "GET /api/v1/monitors": {
      operationId: "listMonitors",
      tags: ["monitors"],
      summary: "List monitors, newest first",
      parameters: pageParameters,
      responses: listAnswer(MonitorPage, monitorExample),
    },
    "GET /api/v1/monitors/:id": {
      operationId: "getMonitor",
      tags: ["monitors"],
      summary: "Read a monitor",
      parameters,
      responses: {
        200: json(Monitor, "The monitor now", { example: monitorExample }),
        ...refusals(401, 403, 503),
        ...noSuchMonitor,
      },
    },
    "PATCH /api/v1/monitors/:id": {
      operationId: "updateMonitor",
      tags: ["monitors"],
      summary: "Report that the producer is alive, what it counts, or the end",
      description:
        "A running monitor without a report for three intervals, at least 60 s, is `stale`. Publishes " +
        "`monitor.updated`; with an `error_code` that is new, or a gap, `monitor.error`; with the status `ended` " +
        "`monitor.end`. A stopped monitor goes on with the next PUT. `pass`, `fail`, `manual` and `not_applicable` are together no more " +
        "than `checks_total` unless it is 0, which means: not known. What is left out is judged by what is stored.",
      security: keyOnly,
      parameters,
      requestBody: jsonBody(monitorUpdateSchema, {
        last_look_at: monitorExample.last_look_at,
        lag_seconds: 1.4,
        checks_total: 29,
        pass: 24,
        fail: 3,
        manual: 1,
        not_applicable: 1,
        log_status: "reading",
      }),
      responses: {
        200: json(Monitor, "The monitor now", { example: monitorExample }),
        ...bodyRefusals,
        ...noSuchMonitor,
        ...hasEnded,
      },
    },
    "DELETE /api/v1/monitors/:id": {
      operationId: "deleteMonitor",
      tags: ["monitors"],
      summary: "Delete a monitor and its changes",
      description: "Publishes `monitor.end`. Its id is not used again.",
      parameters,
      responses: { 204: emptyResponse("Deleted"), ...refusals(401, 403, 503), ...noSuchMonitor },
    },
    "POST /api/v1/monitors/:id/check": {
      operationId: "checkMonitor",
      tags: ["monitors"],
      summary: "Request that the producer looks now",
      description:
        "Publishes `monitor.progress`, at most once a second. A producer that follows the monitor's stream reads the " +
        "org's log at once; any other reads it when its interval has passed.",
      parameters,
      responses: {
        204: emptyResponse("Requested, now or within the last second"),
        ...refusals(401, 403, 503),
        ...noSuchMonitor,
        ...hasEnded,
      },
    },
    "POST /api/v1/monitors/:id/changes": {
      operationId: "storeChanges",
      tags: ["monitors"],
      summary: "Store changes",
      description:
        "In the order in which they happened, each stored once by its `id`. Publishes `finding.updated` for each new " +
        "one whose cause is not `start`.",
      security: keyOnly,
      parameters,
      requestBody: jsonBody(newChangesSchema, { changes: [changeExample] }),
      responses: {
        200: json(StoredChanges, "Stored", { example: { received: 1, created: 1 } }),
        ...bodyRefusals,
        ...noSuchMonitor,
        ...hasEnded,
      },
    },
    "GET /api/v1/monitors/:id/changes": {
      operationId: "listChanges",
      tags: ["monitors"],
      summary: "List a monitor's changes, newest first",
      parameters: [...parameters, ...pageParameters, filter("fingerprint"), filter("check")],
      responses: {
        ...listAnswer(ChangePage, storedChangeExample),
        ...noSuchMonitor,
      },
    },
    "GET /api/v1/monitors/:id/findings": {
      operationId: "listMonitorFindings",
      tags: ["monitors"],
      summary: "List a monitor's present findings",
      description: "The last change of each finding that is still there; its `to` is the present verdict.",
      parameters: [...parameters, ...pageParameters],
      responses: {
        ...listAnswer(ChangePage, storedChangeExample, "One page, by fingerprint"),
        ...noSuchMonitor,
      },
    },
    "GET /api/v1/monitors/:id/event-stream": {
      operationId: "followMonitor",
      tags: ["streams"],
      summary: "Follow a monitor",
      description:
        "Server-sent events until `monitor.end`, over every restart of the producer; see /asyncapi.json. Nothing is " +
        "replayed: read the monitor and its findings again on every `open`.",
      security: streamSecurity,
      parameters: [...parameters, snapshotParameter],
      responses: {
        ...streamAnswer("The monitor has ended: do not reconnect"),
        ...noSuchMonitor,
      },
    },
    "PUT /api/v1/monitors/:id/doorbell": {
      operationId: "putDoorbell",
      tags: ["monitors"],
      summary: "Make the monitor's doorbell",
      description:
        "For an event hook of the provider. The secret is shown this once; the last one is worth nothing then.",
      security: keyOnly,
      parameters,
      responses: {
        200: json(Doorbell, "Where the hook calls, and with which Authorization header", {
          example: { url: `https://scanstream.example/hooks/okta/${monitorExample.id}`, secret: "scd_…" },
        }),
        ...refusals(401, 403, 503),
        ...noSuchMonitor,
        ...hasEnded,
      },
    },
    "GET /hooks/okta/:id": {
      operationId: "verifyDoorbell",
      tags: ["hooks"],
      summary: "Answer the provider's one-time verification",
      security: withoutCredentials,
      parameters: [
        ...parameters,
        {
          name: "x-okta-verification-challenge",
          in: "header",
          required: true,
          schema: toInlineSchema(v.pipe(v.string(), v.minLength(1), v.maxLength(1024))),
        },
      ],
      responses: {
        200: json(Verification, "The challenge", { example: { verification: "x" } }),
        ...refusals(400, 503),
        ...noSuchHook,
      },
    },
    "POST /hooks/okta/:id": {
      operationId: "ringDoorbell",
      tags: ["hooks"],
      summary: "Ring the doorbell: the producer polls now",
      description:
        "The Authorization header is the doorbell's secret, and nothing else. The body is ignored. Publishes " +
        "`monitor.progress`, at most once a second.",
      security: withoutCredentials,
      parameters,
      responses: {
        204: emptyResponse("Rung, now or within the last second"),
        ...refusals(400, 401, 413, 503),
        ...noSuchHook,
      },
    },
  },
  channels: [
    {
      prefix: monitorPrefix,
      resource: "monitor_id",
      title: "One monitor",
      description: "Read at /api/v1/monitors/{monitor_id}/event-stream.",
      events: {
        "monitor.start": { summary: "Its producer was started", schema: monitorEventSchemas["monitor.start"] },
        "monitor.updated": {
          summary: "Its producer reported, or went silent",
          schema: monitorEventSchemas["monitor.updated"],
        },
        "finding.updated": { summary: "A verdict moved", schema: monitorEventSchemas["finding.updated"] },
        "monitor.error": {
          summary: "Something keeps the producer from reading, or a time was not read",
          schema: monitorEventSchemas["monitor.error"],
        },
        "monitor.progress": {
          summary: "The doorbell rang, or somebody asked for a look",
          schema: monitorEventSchemas["monitor.progress"],
        },
        "monitor.end": {
          summary: "The last event: the stream closes after it",
          schema: monitorEventSchemas["monitor.end"],
        },
      } satisfies Record<keyof typeof monitorEventSchemas, unknown>,
    },
  ],
};
