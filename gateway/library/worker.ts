/** Exports of `scanstream/gateway/worker`: the gateway on Cloudflare Workers. */

export { createWorker, type Worker } from "../runtime/worker/create_worker.ts";
export type { WorkerOptions } from "../runtime/worker/worker_options.ts";
