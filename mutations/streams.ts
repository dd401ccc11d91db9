import type { Mutation } from "./mutation.ts";
import { falseState } from "./other_tenants.ts";

const lineBreaks = "line breaks that make new fields or events";
const publisher = "a hostile publisher with access to the broker";
const endless = "a broker message that is far too long";
const smuggling = "response headers or requests smuggled in";
const terminal = "control characters in an event, for the terminal of a person who watches";

/** The third table of `docs/threat_model.md`, "Putting words into streams". */
export const streams: readonly Mutation[] = [
  {
    mistake: "what is published of a scan after its end is passed on",
    holds: [falseState],
    file: "gateway/streaming/hub.ts",
    find: "    if (channel.isAfterEnd(event)) return;\n",
    replace: "",
    testFile: "test/gateway/streaming/hub.test.ts",
    test: "a channel that outlives its resources",
  },
  {
    mistake: "payloads are pretty-printed, over several lines",
    holds: [lineBreaks, "S8"],
    file: "shared/event.ts",
    find: "const data = JSON.stringify(payload);",
    replace: "const data = JSON.stringify(payload, null, 1);",
    testFile: "test/fuzz/events.test.ts",
    test: "what was encoded is read back",
  },
  {
    mistake: "escaped line breaks are written as line breaks",
    holds: [lineBreaks, "S8"],
    file: "shared/event_stream_encoding.ts",
    find: "data: ${event.data}",
    replace: 'data: ${event.data.replaceAll("\\\\n", "\\n")}',
    testFile: "test/attacks/hostile_publisher.test.ts",
    test: "line breaks inside a value",
  },
  {
    mistake: "messages of the broker are not checked",
    holds: [publisher, "S8"],
    file: "shared/event.ts",
    find: "const event = encodeEvent(message.type, message.data);",
    replace: "const event = { type: String(message.type), data: JSON.stringify(message.data) };",
    testFile: "test/attacks/hostile_publisher.test.ts",
    test: "%s: the channel's streams are closed as lost",
  },
  {
    mistake: "an unreadable message is dropped, and the stream goes on",
    holds: [publisher, "S2"],
    file: "gateway/streaming/hub.ts",
    find: "this.#metrics.messageDropped();",
    replace: "this.#metrics.messageDropped();\n      if (channel.hasMembers()) return;",
    testFile: "test/fuzz/events.test.ts",
    test: "the hub hands on whole frames",
  },
  {
    mistake: "a message may be as long as memory allows",
    holds: [endless, "S6"],
    file: "shared/brokers/redis.ts",
    find: "const maxUnreadBytes = 32 * maxMessageBytes;",
    replace: "const maxUnreadBytes = Infinity;",
    testFile: "test/attacks/hostile_publisher.test.ts",
    test: "a message over 32 MiB",
  },
  {
    mistake: "one tenant's long message closes the streams of all tenants",
    holds: [endless, "S2"],
    file: "shared/brokers/redis.ts",
    find: "const maxUnreadBytes = 32 * maxMessageBytes;",
    replace: "const maxUnreadBytes = 8 * maxMessageBytes;",
    testFile: "test/attacks/hostile_publisher.test.ts",
    test: "a message of 20 MB",
  },
  {
    mistake: "any request id comes back in the response",
    holds: [smuggling],
    file: "gateway/http/request_log.ts",
    find: "given !== null && requestIdPattern.test(given) ? given :",
    replace: "given !== null ? given :",
    testFile: "test/attacks/requests.test.ts",
    test: "%s %j comes back in no header",
  },
  {
    mistake: "the HTTP parser is lenient with old clients",
    holds: [smuggling],
    file: "gateway/runtime/start_gateway.ts",
    find: "noDelay: true,",
    replace: "noDelay: true,\n      insecureHTTPParser: true,",
    testFile: "test/attacks/requests.test.ts",
    test: "two requests in one",
  },
  {
    mistake: "watch writes the values of an event as they are",
    holds: [terminal],
    file: "clients/printing.ts",
    find: "return printable(shorten(text, maxValueLength));",
    replace: "return shorten(text, maxValueLength);",
    testFile: "test/e2e/watch.test.ts",
    test: "writes one clean line",
  },
  {
    mistake: "watch writes JSON with control characters that JSON allows",
    holds: [terminal],
    file: "clients/watch_command.ts",
    find: "toPrintableJson(Object.assign({ type }, data, { type }))",
    replace: "JSON.stringify(Object.assign({ type }, data, { type }))",
    testFile: "test/e2e/watch.test.ts",
    test: "--format json writes",
  },
];
