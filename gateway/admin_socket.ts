import { createHash, randomUUID } from "node:crypto";
import { chmod, rename, rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { AppError } from "../shared/app_error.ts";
import { hasCode } from "./local_state.ts";

/**
 * Embedded Postgres may be open in one process only. Whoever has it listens on a socket beside it: that is the lock, and the
 * way in for everybody else. A process that dies leaves a file that nobody listens on, and the next one takes it over.
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
  for (;;) {
    const server = await listen(path, answer);
    if (server !== null) return toLock(server);
    if (await isAlive(path)) return null;
    await removeStale(path);
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

/** The longest path that every system takes for a socket. */
const maxSocketPathLength = 100;

function socketPath(directory: string): string {
  const absolute = resolve(directory);
  const digest = createHash("sha256").update(absolute).digest("hex").slice(0, 32);
  if (process.platform === "win32") return `\\\\.\\pipe\\scanstream-${digest}`;
  const inPlace = join(absolute, "admin.sock");
  const fromHere = relative(process.cwd(), inPlace);
  const shorter = fromHere.length < inPlace.length ? fromHere : inPlace;
  // Cut off by the system, it would be a socket of another name.
  return shorter.length <= maxSocketPathLength ? shorter : join(tmpdir(), `scanstream-${digest}.sock`);
}

async function listen(path: string, answer: AnswerRequest): Promise<Server | null> {
  const server = createServer((socket) => void serveClient(socket, answer));
  const isListening = await new Promise<boolean>((done, fail) => {
    server.once("error", (error) => (hasCode(error, "EADDRINUSE") ? done(false) : fail(error)));
    server.listen(path, () => done(true));
  });
  if (!isListening) return null;
  if (process.platform !== "win32") await chmod(path, 0o600);
  // The owner decides how long the process lives, not the socket.
  server.unref();
  return server;
}

function toLock(server: Server): StateLock {
  return {
    // Closing the server also removes its file; done once more here, it could be the next holder's.
    release: () => new Promise((done) => server.close(() => done())),
  };
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
      const isNobody = hasCode(error, "ECONNREFUSED") || hasCode(error, "ENOENT");
      if (isNobody) done(null);
      else fail(error);
    });
  });
}

/** Moved aside first and looked at again: another process may have taken it over since. */
async function removeStale(path: string): Promise<void> {
  const aside = `${path}.${randomUUID().slice(0, 8)}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return;
    throw error;
  }
  if (await isAlive(aside)) await rename(aside, path);
  else await rm(aside, { force: true });
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
