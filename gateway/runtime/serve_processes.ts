import cluster, { type Worker } from "node:cluster";
import { on, once } from "node:events";
import process from "node:process";
import type { GatewayIo } from "../../command_line/command_io.ts";
import { AppError } from "../../shared/app_error.ts";
import { parseConfig, settingsError, type GatewayConfig } from "../config.ts";
import type { MetricsText } from "../observability/metrics.ts";
import { addUpMetrics, type ProcessMetrics } from "../observability/prometheus.ts";
import { aborted, printAddresses, serve, type Addresses } from "./main_node.ts";
import { createLog, type Log } from "../observability/log.ts";

/**
 * `scanstream serve --processes N`: N gateways behind one port, each with its own streams and subscriptions, and this
 * supervisor, which distributes the connections round-robin and replaces a process that dies. Returns the exit code; rejects
 * with `UsageError` when the processes would have nothing to share.
 */
export async function serveProcesses(io: GatewayIo, count: number): Promise<number> {
  if (cluster.worker !== undefined) return serveAsWorker(io, cluster.worker);
  const config = parseConfig(io.env);
  requireShared(config, count);
  const log = createLog({ write: (line) => io.terminal.write(line), pid: process.pid });
  return new Supervisor(io, log, config.drainDelaySeconds).run(count);
}

/** With its own embedded database or broker, no process would deliver events to the streams of the others. */
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
  if (problems.length > 0) throw settingsError(problems);
}

/** What the processes send each other; plain data, as Node sends it. */
type Message =
  | { readonly kind: "listening"; readonly url: string; readonly metricsUrl: string | null }
  | { readonly kind: "stop" | "skip_delay" }
  /** To a worker: its own metrics. To the supervisor: those of all workers. */
  | { readonly kind: "metrics_request"; readonly id: number }
  | { readonly kind: "metrics_reply"; readonly id: number; readonly metrics: MetricsOfProcesses };

type MetricsOfProcesses = readonly (readonly object[])[];

/** A `Worker` is an end of the IPC channel on both sides: in the supervisor to that worker, in the worker to the supervisor. */
type IpcChannel = Worker;

/** The message is dropped when the other process has exited, which is noticed elsewhere. */
function sendTo(channel: IpcChannel, message: Message): void {
  if (channel.isConnected()) channel.send(message, undefined, {}, () => {});
}

function onMessage(channel: IpcChannel, listener: (message: Message) => void): void {
  channel.on("message", listener);
}

let lastRequestId = 0;

/** Null when the other process does not reply in time, or exits. */
async function requestMetrics(channel: IpcChannel, timeoutMs: number): Promise<MetricsOfProcesses | null> {
  const id = (lastRequestId += 1);
  const messages = on(channel, "message", { signal: AbortSignal.timeout(timeoutMs), close: ["exit"] });
  sendTo(channel, { kind: "metrics_request", id });
  try {
    for await (const [message] of messages as AsyncIterable<readonly [Message]>) {
      if (message.kind === "metrics_reply" && message.id === id) return message.metrics;
    }
  } catch {
    // The timeout.
  }
  return null;
}

/** How long the metrics of a worker are awaited; it may itself wait 2 s for a silent broker. */
const workerMetricsTimeoutMs = 3000;
const allMetricsTimeoutMs = 4000;

/** In a worker: the gateway itself, until it is interrupted or told to stop. */
async function serveAsWorker(io: GatewayIo, supervisor: IpcChannel): Promise<number> {
  const stop = new AbortController();
  const skipDelay = new AbortController();
  onMessage(supervisor, ({ kind }) => {
    if (kind === "stop") stop.abort();
    if (kind === "skip_delay") skipDelay.abort();
  });
  const workerIo = {
    ...io,
    interrupted: AbortSignal.any([io.interrupted, stop.signal]),
    skipDelay: AbortSignal.any([io.skipDelay, skipDelay.signal]),
  };
  return serve(workerIo, {
    pid: process.pid,
    joinMetrics: (own) => joinMetrics(own, supervisor),
    onListening: ({ url, metricsUrl }) => sendTo(supervisor, { kind: "listening", url, metricsUrl }),
  });
}

/** Lets `/metrics` of any worker answer for all of them. */
function joinMetrics(own: ProcessMetrics, supervisor: IpcChannel): MetricsText {
  onMessage(supervisor, (message) => {
    if (message.kind === "metrics_request") void reply(message.id);
  });
  return {
    async read() {
      const all = await requestMetrics(supervisor, allMetricsTimeoutMs);
      if (all !== null) return addUpMetrics(all);
      throw new AppError("unavailable", "The metrics of the processes did not arrive in time", {
        retryAfterSeconds: 5,
      });
    },
  };

  /** Never rejects: without a reply the others are added up. */
  async function reply(id: number): Promise<void> {
    const metrics = await own.readJson().catch(() => null);
    if (metrics !== null) sendTo(supervisor, { kind: "metrics_reply", id, metrics: [metrics] });
  }
}

/** How long a worker may take after its delay; one that is still running then will not end by itself. */
const stopTimeoutMs = 5000;
/** Backoff of restarts. */
const minRestartMs = 100;
const maxRestartMs = 10_000;
/** A worker that lived for so long resets the backoff. */
const stableMs = 30_000;
/** Exit code of the command when its first worker was killed before it could listen: a defect in scanstream. */
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
    // The first worker starts alone, so that it alone reports what is wrong with the configuration.
    const first = await this.#startFirst();
    if (typeof first === "number") return first;
    await Promise.all(Array.from({ length: count - 1 }, () => this.#start()));
    if (!interrupted.aborted) printAddresses(first, this.#io);
    await aborted(interrupted);
    await this.#stop();
    return 0;
  }

  /** The addresses of the first worker, or its exit code. */
  async #startFirst(): Promise<Addresses | number> {
    const worker = cluster.fork();
    const exited = new Promise<number>((resolve) => {
      worker.once("exit", (code: number | null) => resolve(code ?? killedExitCode));
    });
    const stop = () => sendTo(worker, { kind: "stop" });
    this.#io.interrupted.addEventListener("abort", stop, { once: true });
    const outcome = await Promise.race([listening(worker), exited]);
    this.#io.interrupted.removeEventListener("abort", stop);
    if (typeof outcome !== "number") this.#supervise(worker);
    return outcome;
  }

  /** Resolves once it listens, or has exited before: then it is being replaced. */
  async #start(): Promise<void> {
    const worker = cluster.fork();
    const exited = once(worker, "exit");
    this.#supervise(worker);
    await Promise.race([listening(worker), exited]);
  }

  #supervise(worker: Worker): void {
    const startedMs = Date.now();
    this.#workers.add(worker);
    onMessage(worker, (message) => {
      if (message.kind === "metrics_request") void this.#replyMetrics(worker, message.id);
    });
    worker.once("exit", (code: number | null, signal: string | null) => {
      this.#workers.delete(worker);
      if (this.#io.interrupted.aborted) return;
      this.#restartMs = Date.now() - startedMs > stableMs ? minRestartMs : Math.min(this.#restartMs * 2, maxRestartMs);
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
    const exited = Promise.all(workers.map((worker) => once(worker, "exit")));
    for (const worker of workers) sendTo(worker, { kind: "stop" });
    void aborted(this.#io.skipDelay).then(() => {
      for (const worker of workers) sendTo(worker, { kind: "skip_delay" });
    });
    const killTimer = setTimeout(
      () => {
        for (const worker of this.#workers) worker.process.kill("SIGKILL");
      },
      this.#drainDelaySeconds * 1000 + stopTimeoutMs,
    );
    await exited;
    clearTimeout(killTimer);
  }

  /** Never rejects: a worker that does not reply is left out. */
  async #replyMetrics(worker: Worker, id: number): Promise<void> {
    const requests = Array.from(this.#workers, (each) => requestMetrics(each, workerMetricsTimeoutMs));
    const metrics = (await Promise.all(requests)).flatMap((reply) => reply ?? []);
    sendTo(worker, { kind: "metrics_reply", id, metrics });
  }
}

function listening(worker: IpcChannel): Promise<Addresses> {
  return new Promise((resolve) => {
    onMessage(worker, (message) => {
      if (message.kind === "listening") resolve(message);
    });
  });
}
