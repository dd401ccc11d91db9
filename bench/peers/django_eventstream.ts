import { freePort } from "../../test/support/free_port.ts";
import type { BenchServer } from "../bench_server.ts";
import { startProcess } from "../measured_process.ts";
import { findPeer } from "./folder.ts";
import { toBenchServer } from "./json_peer.ts";

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
  return toBenchServer({ name: "django-eventstream", port, path: "/events/", process: server });
}
