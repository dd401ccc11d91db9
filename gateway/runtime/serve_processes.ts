import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import process from "node:process";
import type { GatewayIo } from "../../command_line/command_io.ts";
import { ConfigError, parseConfig, type GatewayConfig } from "../config.ts";
import { aborted, sayAddresses, serve, type Addresses } from "./main_node.ts";
import { createLog, type Log } from "../observability/log.ts";
import { createJoinedMetrics, type Line, type ToSupervisor, type ToWorker } from "./process_messages.ts";

/**
 * `scanstream serve --processes N`: N gateways behind one port, each with its own streams and subscriptions, and this
 * process, which hands them the connections in turn and starts another for one that dies. Returns the exit code; rejects
 * with `ConfigError` when the processes would have nothing to share.
 */
export async function serveProcesses(io: GatewayIo, count: number): Promise<number> {
  if (cluster.isWorker) return serveShare(io);
  const config = parseConfig(io.env);
  requireShared(config, count);
  const log = createLog({ write: (line) => io.terminal.write(line), pid: process.pid });
  return new Supervisor(io, log, config.drainDelaySeconds).run(count);
}

/** Each process would have a database or a broker of its own, and no event would reach the streams of the others. */
function requireShared(config: GatewayConfig, count: number): void {
  const problems: string[] = [];
  if (config.databaseUrl === null) {
    problems.push(
      `DATABASE_URL: required with --processes ${count}: expected postgres://user:password@host/database ` +
        "(the embedded database can be open in one process only)",
    );
  }
  if (config.broker.kind === "memory") {
    problems.push(
      `REDIS_URL: required with --processes ${count}, or UPSTASH_REDIS_REST_URL: expected redis://host:6379 ` +
        "(the in-process broker reaches one process only)",
    );
  }
  if (problems.length > 0) throw new ConfigError(problems);
}

/** In a worker: the gateway itself, until it is interrupted or told to stop. */
async function serveShare(io: GatewayIo): Promise<number> {
  const line: Line = {
    // The supervisor is gone when it cannot be sent to, and then Node ends this process.
    send: (message) => void process.send?.(message, undefined, {}, () => {}),
    onMessage: (listener) => void process.on("message", (message) => listener(message as ToWorker)),
  };
  const stop = new AbortController();
  const hurry = new AbortController();
  line.onMessage(({ kind }) => {
    if (kind === "stop") stop.abort();
    if (kind === "hurry") hurry.abort();
  });
  const shared = {
    ...io,
    interrupted: AbortSignal.any([io.interrupted, stop.signal]),
    hurried: AbortSignal.any([io.hurried, hurry.signal]),
  };
  return serve(shared, {
    pid: process.pid,
    joinMetrics: createJoinedMetrics(line),
    onListening: ({ url, metricsUrl }) => line.send({ kind: "listening", url, metricsUrl }),
  });
}

/** What a worker has after its delay; one that is still there then will not end by itself. */
const stopMs = 5000;
/** A worker that dies is replaced at once, one that keeps dying ever later. */
const minRestartMs = 100;
const maxRestartMs = 10_000;
/** A worker that lived for so long has not died of what the last one died of. */
const settledMs = 30_000;
/** How long the metrics of a worker are waited for; it may itself wait 2 s for a broker that is silent. */
const metricsMs = 3000;
/** What a worker that was killed before it could listen leaves the command with: a bug of ours. */
const killedExitCode = 4;

class Supervisor {
  readonly #io: GatewayIo;
  readonly #log: Log;
  readonly #workers = new Set<Worker>();
  readonly #restarts = new Set<ReturnType<typeof setTimeout>>();
  readonly #drainDelaySeconds: number;
  #restartMs = minRestartMs;

  constructor(io: GatewayIo, log: Log, drainDelaySeconds: number) {
    this.#io = io;
    this.#log = log;
    this.#drainDelaySeconds = drainDelaySeconds;
  }

  async run(count: number): Promise<number> {
    const { interrupted } = this.#io;
    // Alone, so that what is wrong with the configuration is said once, and by the one whose business it is.
    const first = await this.#firstListens();
    if (typeof first === "number") return first;
    await Promise.all(Array.from({ length: count - 1 }, () => this.#start()));
    if (!interrupted.aborted) sayAddresses(first, this.#io);
    await aborted(interrupted);
    await this.#stop();
    return 0;
  }

  /** The addresses of the first worker, or the exit code that it left instead. */
  async #firstListens(): Promise<Addresses | number> {
    const worker = cluster.fork();
    const left = new Promise<number>((resolve) => {
      worker.once("exit", (code: number | null) => resolve(code ?? killedExitCode));
    });
    const leave = () => say(worker, { kind: "stop" });
    this.#io.interrupted.addEventListener("abort", leave, { once: true });
    const outcome = await Promise.race([listening(worker), left]);
    this.#io.interrupted.removeEventListener("abort", leave);
    if (typeof outcome !== "number") this.#keep(worker);
    return outcome;
  }

  /** Resolves once it listens, or has died before: then another is on its way. */
  async #start(): Promise<void> {
    const worker = cluster.fork();
    const died = once(worker, "exit");
    this.#keep(worker);
    await Promise.race([listening(worker), died]);
  }

  #keep(worker: Worker): void {
    const startedMs = Date.now();
    this.#workers.add(worker);
    worker.on("message", (message: ToSupervisor) => {
      if (message.kind === "all_metrics_wanted") void this.#tellMetrics(worker, message.id);
    });
    worker.once("exit", (code: number | null, signal: string | null) => {
      this.#workers.delete(worker);
      if (this.#io.interrupted.aborted) return;
      this.#restartMs = Date.now() - startedMs > settledMs ? minRestartMs : Math.min(this.#restartMs * 2, maxRestartMs);
      this.#log.error(
        { worker_pid: worker.process.pid, exit_code: code, signal, restart_ms: this.#restartMs },
        "a process of the gateway died",
      );
      const timer = setTimeout(() => {
        this.#restarts.delete(timer);
        void this.#start();
      }, this.#restartMs);
      this.#restarts.add(timer);
    });
  }

  async #stop(): Promise<void> {
    for (const timer of this.#restarts) clearTimeout(timer);
    const workers = [...this.#workers];
    const gone = Promise.all(workers.map((worker) => once(worker, "exit")));
    for (const worker of workers) say(worker, { kind: "stop" });
    void aborted(this.#io.hurried).then(() => {
      for (const worker of workers) say(worker, { kind: "hurry" });
    });
    const late = setTimeout(
      () => {
        for (const worker of this.#workers) worker.process.kill("SIGKILL");
      },
      this.#drainDelaySeconds * 1000 + stopMs,
    );
    await gone;
    clearTimeout(late);
  }

  /** Never rejects: a worker that cannot answer is left out. */
  async #tellMetrics(asker: Worker, id: number): Promise<void> {
    const others = [...this.#workers].filter((worker) => worker !== asker && worker.isConnected());
    const answers = await Promise.all(others.map((worker) => metricsOf(worker, (this.#lastMetricsId += 1))));
    say(asker, { kind: "all_metrics", id, metrics: answers.filter((answer) => answer !== null) });
  }

  #lastMetricsId = 0;
}

function listening(worker: Worker): Promise<Addresses> {
  return new Promise((resolve) => {
    worker.on("message", (message: ToSupervisor) => {
      if (message.kind === "listening") resolve(message);
    });
  });
}

async function metricsOf(worker: Worker, id: number): Promise<readonly object[] | null> {
  const { promise, resolve } = Promise.withResolvers<readonly object[] | null>();
  const hear = (message: ToSupervisor) => {
    if (message.kind === "metrics" && message.id === id) resolve(message.metrics);
  };
  const leave = () => resolve(null);
  const late = setTimeout(leave, metricsMs);
  worker.on("message", hear);
  worker.once("exit", leave);
  say(worker, { kind: "metrics_wanted", id });
  const metrics = await promise;
  clearTimeout(late);
  worker.off("message", hear);
  worker.off("exit", leave);
  return metrics;
}

/** To a worker that is just dying nothing can be said; its exit says the rest. */
function say(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, undefined, {}, () => {});
}
