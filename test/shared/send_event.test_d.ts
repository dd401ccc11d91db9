import { test } from "vitest";
import type { Publisher } from "../../shared/send_event.ts";

declare const sendEvent: Publisher["sendEvent"];
const id = "0b54a9d2-6d0c-4ae2-8f0a-0d3f8a6f2a11";

test("what the vocabulary does not allow is a compile error", () => {
  // @ts-expect-error a verb that is not in the vocabulary
  void sendEvent("c", "scan.finished", {});
  // @ts-expect-error no verb
  void sendEvent("c", "scan", {});
  // @ts-expect-error a nested payload
  void sendEvent("c", "scan.progress", { a: { b: 1 } });
  // @ts-expect-error an array in an array
  void sendEvent("c", "scan.progress", { a: [[1]] });
  // @ts-expect-error undefined is no JSON
  void sendEvent("c", "scan.progress", { a: undefined });
  // @ts-expect-error a terminal event without its id
  void sendEvent("c", "scan.end", { status: "completed" });
  // @ts-expect-error a terminal event with another resource's id
  void sendEvent("c", "scan.end", { job_id: id });
  // @ts-expect-error an id that is no string
  void sendEvent("c", "scan.end", { scan_id: 1 });
});
