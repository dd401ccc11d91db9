import { freePort } from "../../test/support/free_port.ts";
import type { BenchServer } from "../bench_server.ts";
import { startProcess } from "../measured_process.ts";
import { findPeer } from "./folder.ts";
import { createHttpPublisher } from "./http_publisher.ts";

/** django-eventstream on uvicorn with one process, which is what it needs without Redis. */
export async function startDjangoServer(): Promise<BenchServer | null> {
  const python = findPeer("django_eventstream/bin/python");
  if (python === null) return null;
  const port = await freePort();
  const uvicorn = ["-m", "uvicorn", "django_app:application", "--port", String(port), "--log-level", "info"];
  const quiet = ["--no-access-log", "--lifespan", "off", "--backlog", "4096", "--app-dir", import.meta.dirname];
  const server = await startProcess({
    command: ["sh", "-c", 'exec "$@" 2>&1', "sh", python, "-B", ...uvicorn, ...quiet],
    until: /Uvicorn running on/,
  });
  const publisher = createHttpPublisher({
    port,
    path: "/publish",
    headers: ["Content-Type: application/json"],
    body: (payload) => payload,
  });
  return {
    name: "django-eventstream",
    host: "127.0.0.1",
    port,
    path: () => "/events/",
    headers: [],
    process: server,
    publish: (options) => publisher.publish(options),
    async stop() {
      publisher.stop();
      await server.stop();
    },
  };
}
