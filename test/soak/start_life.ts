import { startGatewayProcess } from "./gateway_process.ts";
import type { Life, Work } from "./work.ts";

/** A gateway with bounds that a soak reaches; the second one where the first was. */
export async function startLife(
  work: Pick<Work, "surroundings" | "maxStreamsPerTenant" | "folder"> & { readonly life?: Life },
): Promise<Life> {
  const gateway = await startGatewayProcess({
    cwd: work.folder,
    environment: {
      ...work.surroundings.environment,
      PORT: String(work.life?.gateway.port ?? 0),
      EVENTSTREAM_HEARTBEAT_SECONDS: "1",
      EVENTSTREAM_RECHECK_SECONDS: "3",
      EVENTSTREAM_MAX_BUFFER_BYTES: "131072",
      EVENTSTREAM_MAX_STREAMS_PER_TENANT: String(work.maxStreamsPerTenant),
    },
  });
  return { gateway, startedAtMs: Date.now(), stoppingAtMs: Infinity, open: new Map(), samples: [] };
}
