import { createHash, randomUUID } from "node:crypto";
import { chmod, readdir, rename, rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { setTimeout } from "node:timers/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { hasCode } from "../shared/error_code.ts";

/**
 * Embedded Postgres may be open in one process only. Its holder listens on a socket next to it: that is the lock. A process that dies leaves a stale socket file, and the next holder replaces it.
 */
export interface StateLock {
  release(): Promise<void>;
}

/** Null when another live process holds the directory. */
export async function lockStateDirectory(directory: string): Promise<StateLock | null> {
  const path = socketPath(directory);
  if (process.platform === "win32") return lockPipe(path);
  for (let maxWaitMs = 20; ; maxWaitMs *= 2) {
    if (await isAlive(path)) return null;
    const lock = await contend(path);
    if (lock !== null) return lock;
    // Contenders that saw each other retry at different times.
    await setTimeout(Math.random() * maxWaitMs);
  }
}

/** The longest socket path that every system accepts, less the suffix of a contender's. */
const maxSocketPathLength = 91;

function socketPath(directory: string): string {
  const absolute = resolve(directory);
  const digest = createHash("sha256").update(absolute).digest("hex").slice(0, 16);
  if (process.platform === "win32") return `\\\\.\\pipe\\scanstream-${digest}`;
  const inPlace = join(absolute, "lock.sock");
  const fromHere = relative(process.cwd(), inPlace);
  const shorter = fromHere.length < inPlace.length ? fromHere : inPlace;
  // Truncated by the system, it would be a socket of another name.
  return shorter.length <= maxSocketPathLength ? shorter : join(tmpdir(), `scanstream-${digest}.sock`);
}

/** A pipe ends with its process, and has one owner. */
async function lockPipe(path: string): Promise<StateLock | null> {
  try {
    const server = await listen(path);
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
async function contend(path: string): Promise<StateLock | null> {
  const own = `${path}.${randomUUID().slice(0, 8)}`;
  const server = await listen(own);
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

async function listen(path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
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
