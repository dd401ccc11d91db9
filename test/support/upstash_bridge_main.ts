import { startRedis } from "./redis.ts";
import { startUpstashBridge } from "./upstash_bridge.ts";

// `npm run upstash-bridge`: Upstash on this machine, for a local Worker.
const port = Number(process.env["PORT"] ?? 8079);
const token = process.env["UPSTASH_REDIS_REST_TOKEN"] ?? "local-token";
const redis = process.env["REDIS_URL"] === undefined ? await startRedis() : null;
const bridge = await startUpstashBridge({
  redisUrl: redis?.url ?? process.env["REDIS_URL"] ?? "",
  token,
  port,
  keepAliveMs: 15_000,
});

console.log(`Upstash-compatible REST on ${bridge.url}, for .dev.vars or the environment:\n`);
console.log(`UPSTASH_REDIS_REST_URL=${bridge.url}\nUPSTASH_REDIS_REST_TOKEN=${bridge.token}\n\nStop with Ctrl+C.`);

let isStopping = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    if (isStopping) return;
    isStopping = true;
    void bridge.close().then(async () => {
      await redis?.stop();
      process.exitCode = 0;
    });
  });
}
