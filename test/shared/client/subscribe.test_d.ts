import { expectTypeOf, test } from "vitest";
import type { FindingCreated, ScanEnd, ScanEvents } from "../../../shared/schemas/scan.ts";
import { subscribe } from "../../../shared/client/subscribe.ts";

test("the type of an event narrows its data", () => {
  subscribe<ScanEvents>("/stream", {
    onEvent: (event) => {
      if (event.type === "finding.created") expectTypeOf(event.data).toEqualTypeOf<FindingCreated>();
      if (event.type === "scan.end") expectTypeOf(event.data).toEqualTypeOf<ScanEnd>();
      // @ts-expect-error: not an event of the map
      if (event.type === "scan.vanished") return;
      // @ts-expect-error: not a field of every event
      void event.data.fingerprint;
    },
  });
});
