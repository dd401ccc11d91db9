import { createHash, randomUUID } from "node:crypto";
import { chmod, readdir, rename, rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { setTimeout } from "node:timers/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { AppError } from "../shared/app_error.ts";
import { hasCode } from "../shared/error_code.ts";

/**
 * Embedded Postgres may be open in one process only. Its holder listens on a socket next to it: that is the lock, and other
 * processes send their requests to it. A process that dies leaves a stale socket file, and the next holder replaces it.
 */
export interface StateLock {
  release(): Promise<void>;
}

export type RequestHandler = (request: unknown) => Promise<unknown>;

/** Requests and answers are one line of JSON each; a page of an exported tenant is the longest. */
const maxLineLength = 16 * 1_048_576;

/** Null when another live process holds the directory. `handler` is called with each request; its result is sent as JSON. */
export async function lockStateDirectory(directory: string, handler: RequestHandler): Promise<StateLock | null> {
  const path = socketPath(directory);
  if (process.platform === "win32") return lockPipe(path, handler);
  for (let maxWaitMs = 20; ; maxWaitMs *= 2) {
    if (await isAlive(path)) return null;
    const lock = await contend(path, handler);
    if (lock !== null) return lock;
    // Contenders that saw each other retry at different times.
    await setTimeout(Math.random() * maxWaitMs);
  }
}

/**
 * Sends one request to the process that holds the directory. Null when none exists, or it exits without a reply; rejects
 * with `AppError("unavailable")` when it does not reply in time.
 */
export async function requestStateHolder(directory: string, request: unknown, timeoutMs: number): Promise<unknown> {
  const socket = await open(socketPath(directory));
  if (socket === null) return null;
  let isTimedOut = false;
  socket.setTimeout(timeoutMs, () => {
    isTimedOut = true;
    socket.destroy();
  });
  const answer = readLine(socket);
  socket.write(`${JSON.stringify(request)}\n`);
  try {
    return JSON.parse(await answer);
  } catch {
    if (isTimedOut)
      throw new AppError("unavailable", "The gateway that has the embedded database open does not answer");
    return null;
  } finally {
    socket.destroy();
  }
}

/** The longest socket path that every system accepts, less the suffix of a contender's. */
const maxSocketPathLength = 91;

function socketPath(directory: string): string {
  const absolute = resolve(directory);
  const digest = createHash("sha256").update(absolute).digest("hex").slice(0, 16);
  if (process.platform === "win32") return `\\\\.\\pipe\\scanstream-${digest}`;
  const inPlace = join(absolute, "admin.sock");
  const fromHere = relative(process.cwd(), inPlace);
  const shorter = fromHere.length < inPlace.length ? fromHere : inPlace;
  // Truncated by the system, it would be a socket of another name.
  return shorter.length <= maxSocketPathLength ? shorter : join(tmpdir(), `scanstream-${digest}.sock`);
}

/** A pipe ends with its process, and has one owner. */
async function lockPipe(path: string, handler: RequestHandler): Promise<StateLock | null> {
  try {
    const server = await listen(path, handler);
    return { release: () => close(server) };
  } catch (error) {
    if (hasCode(error, "EADDRINUSE")) return null;
    throw error;
  }
}

/**
 * Listens under its own name, then looks for other live sockets, and renames its own to the path only when there are
 * none. Of two contenders the one that listened last must see the other: under its own name, or at the path, which is checked
 * last. A path that was found stale may be live a moment later, so it is never removed, only replaced by a contender that is
 * alone. Null when another one is live.
 */
async function contend(path: string, handler: RequestHandler): Promise<StateLock | null> {
  const own = `${path}.${randomUUID().slice(0, 8)}`;
  const server = await listen(own, handler);
  try {
    await chmod(own, 0o600);
    if (await isAlone(path, own)) {
      await rename(own, path);
      return { release: () => rm(path, { force: true }).then(() => close(server)) };
    }
  } catch (error) {
    // Another contender connected between `bind` and `listen`, and removed the file as stale.
    if (!hasCode(error, "ENOENT")) {
      await close(server);
      throw error;
    }
  }
  await close(server);
  return null;
}

async function isAlone(path: string, own: string): Promise<boolean> {
  const folder = dirname(path);
  const names = await readdir(folder);
  for (const name of names.filter((name) => name.startsWith(`${basename(path)}.`))) {
    const other = join(folder, name);
    if (other === own) continue;
    if (await isAlive(other)) return false;
    // No name is used twice, so a stale one stays stale.
    await rm(other, { force: true });
  }
  return !(await isAlive(path));
}

async function listen(path: string, handler: RequestHandler): Promise<Server> {
  const server = createServer((socket) => void serveClient(socket, handler));
  await new Promise<void>((done, fail) => {
    server.once("error", fail);
    server.listen(path, () => done());
  });
  // The socket alone does not keep the process alive.
  server.unref();
  return server;
}

/** Also removes the socket's original file, unless it was renamed. */
function close(server: Server): Promise<void> {
  return new Promise((done) => server.close(() => done()));
}

async function isAlive(path: string): Promise<boolean> {
  const socket = await open(path);
  socket?.destroy();
  return socket !== null;
}

async function open(path: string): Promise<Socket | null> {
  const socket = connect(path);
  return new Promise((done, fail) => {
    socket.once("connect", () => done(socket));
    socket.once("error", (error) => {
      // A reset: it stopped listening while the connection was in its backlog.
      if (["ECONNREFUSED", "ECONNRESET", "ENOENT"].some((code) => hasCode(error, code))) done(null);
      else fail(error);
    });
  });
}

async function serveClient(socket: Socket, handler: RequestHandler): Promise<void> {
  // Ignore errors from clients that disconnect early.
  socket.on("error", () => {});
  try {
    const reply = await handler(JSON.parse(await readLine(socket)));
    socket.end(`${JSON.stringify(reply)}\n`);
  } catch {
    socket.destroy();
  }
}

function readLine(socket: Socket): Promise<string> {
  return new Promise((done, fail) => {
    let text = "";
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      text += chunk;
      const end = text.indexOf("\n");
      if (end >= 0) done(text.slice(0, end));
      else if (text.length > maxLineLength) socket.destroy(new Error("The line is too long"));
    });
    socket.once("error", fail);
    socket.once("close", () => fail(new Error("The other side closed the connection without a reply")));
  });
}
