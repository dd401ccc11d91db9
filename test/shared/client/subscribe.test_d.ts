import { expectTypeOf, test } from "vitest";
import type { iterateEvents } from "../../../shared/client/iterate_events.ts";
import type { FindingCreated, ScanEnd, ScanEvents } from "../../../shared/scan_events.ts";
import { subscribe, type StreamEvent } from "../../../shared/client/subscribe.ts";
import { waitForEnd } from "../../../shared/client/wait_for_end.ts";

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

test("every form gives the same events", () => {
  expectTypeOf(waitForEnd<ScanEvents>).returns.resolves.toEqualTypeOf<StreamEvent<ScanEvents> | null>();
  type Next = ReturnType<ReturnType<typeof iterateEvents<ScanEvents>>["next"]>;
  expectTypeOf<Awaited<Next>>().toExtend<IteratorResult<StreamEvent<ScanEvents>>>();
});

test("an event map of one's own needs no index signature", () => {
  interface JobEvents {
    readonly "job.progress": { readonly job_id: string; readonly percent: number };
  }
  expectTypeOf<StreamEvent<JobEvents>>().toEqualTypeOf<{
    readonly type: "job.progress";
    readonly data: { readonly job_id: string; readonly percent: number };
  }>();
});
