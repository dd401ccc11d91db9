import { createHash, randomUUID } from "node:crypto";
import { chmod, readdir, rename, rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { setTimeout } from "node:timers/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { AppError } from "../../shared/app_error.ts";
import { hasCode } from "../../shared/error_code.ts";

/**
 * Embedded Postgres may be open in one process only. Whoever has it listens on a socket beside it: that is the lock, and the
 * way in for everybody else. A process that dies leaves a file that nobody listens on, and the next one replaces it.
 */
export interface StateLock {
  release(): Promise<void>;
}

export type AnswerRequest = (request: unknown) => Promise<unknown>;

/** Requests and answers are one line of JSON each; no operation needs more. */
const maxLineLength = 1_048_576;

/** Null when another living process has the directory. `answer` is called with each request; what it returns is JSON. */
export async function lockStateDirectory(directory: string, answer: AnswerRequest): Promise<StateLock | null> {
  const path = socketPath(directory);
  if (process.platform === "win32") return lockPipe(path, answer);
  for (let maxWaitMs = 20; ; maxWaitMs *= 2) {
    if (await isAlive(path)) return null;
    const lock = await contend(path, answer);
    if (lock !== null) return lock;
    // Contenders that saw each other come back one after another.
    await setTimeout(Math.random() * maxWaitMs);
  }
}

/**
 * Sends one request to whoever has the directory. Null when nobody listens, or the holder went away without an answer;
 * rejects with `AppError("unavailable")` when it is there and does not answer.
 */
export async function askStateHolder(directory: string, request: unknown, timeoutMs: number): Promise<unknown> {
  const socket = await open(socketPath(directory));
  if (socket === null) return null;
  let isLate = false;
  socket.setTimeout(timeoutMs, () => {
    isLate = true;
    socket.destroy();
  });
  const answer = readLine(socket);
  socket.write(`${JSON.stringify(request)}\n`);
  try {
    return JSON.parse(await answer);
  } catch {
    if (isLate) throw new AppError("unavailable", "The gateway that has the embedded database open does not answer");
    return null;
  } finally {
    socket.destroy();
  }
}

/** The longest path that every system takes for a socket, less what a contender's has more. */
const maxSocketPathLength = 91;

function socketPath(directory: string): string {
  const absolute = resolve(directory);
  const digest = createHash("sha256").update(absolute).digest("hex").slice(0, 16);
  if (process.platform === "win32") return `\\\\.\\pipe\\scanstream-${digest}`;
  const inPlace = join(absolute, "admin.sock");
  const fromHere = relative(process.cwd(), inPlace);
  const shorter = fromHere.length < inPlace.length ? fromHere : inPlace;
  // Cut off by the system, it would be a socket of another name.
  return shorter.length <= maxSocketPathLength ? shorter : join(tmpdir(), `scanstream-${digest}.sock`);
}

/** A pipe ends with its process, and has one owner. */
async function lockPipe(path: string, answer: AnswerRequest): Promise<StateLock | null> {
  try {
    const server = await listen(path, answer);
    return { release: () => close(server) };
  } catch (error) {
    if (hasCode(error, "EADDRINUSE")) return null;
    throw error;
  }
}

/**
 * Listens under a name of its own, then looks for others, and takes the path only when nobody else lives. Of two who would
 * both take it, the one that listened last has looked when the other could be seen: under its own name, or, because that
 * is looked at last, at the path. A path that was found stale may be another's a moment later, so it is never removed, only
 * replaced by who is alone. Null when somebody else lives.
 */
async function contend(path: string, answer: AnswerRequest): Promise<StateLock | null> {
  const own = `${path}.${randomUUID().slice(0, 8)}`;
  const server = await listen(own, answer);
  try {
    await chmod(own, 0o600);
    if (await isAlone(path, own)) {
      await rename(own, path);
      return { release: () => rm(path, { force: true }).then(() => close(server)) };
    }
  } catch (error) {
    // Another contender looked between the name and the listening, and removed it as a dead one's.
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
    // No name is used twice, so what is dead stays dead.
    await rm(other, { force: true });
  }
  return !(await isAlive(path));
}

async function listen(path: string, answer: AnswerRequest): Promise<Server> {
  const server = createServer((socket) => void serveClient(socket, answer));
  await new Promise<void>((done, fail) => {
    server.once("error", fail);
    server.listen(path, () => done());
  });
  // The owner decides how long the process lives, not the socket.
  server.unref();
  return server;
}

/** Also removes the file that it was made with, where that still has its name. */
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
      // A reset: it stopped listening while we waited to be let in.
      if (hasCode(error, "ECONNREFUSED", "ECONNRESET", "ENOENT")) done(null);
      else fail(error);
    });
  });
}

async function serveClient(socket: Socket, answer: AnswerRequest): Promise<void> {
  // A client that leaves early is its own affair.
  socket.on("error", () => {});
  try {
    const reply = await answer(JSON.parse(await readLine(socket)));
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
    socket.once("close", () => fail(new Error("The other side closed before it had answered")));
  });
}
