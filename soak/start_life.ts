import { startGatewayProcess } from "./gateway_process.ts";
import type { Life, Work } from "./work.ts";

/** A gateway with bounds that a soak reaches. It counts from now on: somebody may reach it before we are told that it listens. */
export function startLife(
  work: Pick<Work, "surroundings" | "maxStreams" | "maxStreamsPerTenant" | "folder">,
  port: number,
): Life {
  const gateway = startGatewayProcess({
    cwd: work.folder,
    environment: {
      ...work.surroundings.environment,
      PORT: String(port),
      EVENTSTREAM_HEARTBEAT_SECONDS: "1",
      EVENTSTREAM_RECHECK_SECONDS: "3",
      EVENTSTREAM_MAX_BUFFER_BYTES: "131072",
      EVENTSTREAM_MAX_STREAMS: String(work.maxStreams),
      EVENTSTREAM_MAX_STREAMS_PER_TENANT: String(work.maxStreamsPerTenant),
    },
  });
  const life: Life = {
    gateway,
    startedAtMs: Date.now(),
    isUp: false,
    stoppingAtMs: Infinity,
    open: new Map(),
    samples: [],
  };
  gateway.then(
    () => {
      life.isUp = true;
    },
    // Whoever awaits it is told.
    () => undefined,
  );
  return life;
}
