import assert from "node:assert/strict";
import { once } from "node:events";
import type { ScanEvents } from "../../../shared/schemas/scan.ts";
import { subscribe } from "../../../shared/client/subscribe.ts";
import { startScriptedServer, status, stream, type Answer } from "../../support/scripted_server.ts";
import { end, progress, quick, watch } from "./watched_stream.ts";

const callbackNames = ["onEvent", "refetch", "getAccessToken", "onStateChange"] as const;
type Callback = (typeof callbackNames)[number];
type Fault = "cut" | "end" | "stall" | "close";
type Outcome = "resolves" | "rejects";
const faultNames = { cut: "a cut", end: "an end", stall: "a stall", close: "a close()" } as const;

function faultsDuring(callback: Callback): readonly Fault[] {
  // Before there is a token there is no stream that could break.
  return callback === "getAccessToken" ? ["stall", "close"] : ["cut", "end", "stall", "close"];
}

/**
 * Streams while a callback of the caller is still busy. A rejected promise that nothing handles ends the
 * process on Node and Deno, so each runtime that runs these cases is itself the assertion.
 */
export const subscribeSlowCases: Readonly<Record<string, () => Promise<void>>> = {
  ...Object.fromEntries(
    callbackNames.flatMap((callback) =>
      faultsDuring(callback).flatMap((fault) =>
        (["resolves", "rejects"] as const).map((outcome) => [
          `survives ${faultNames[fault]} while ${callback} is pending, which then ${outcome}`,
          () => surviveFault(callback, fault, outcome),
        ]),
      ),
    ),
  ),

  "reads a hostile server's bytes, and no half of an event": async () => {
    const detail = "x".repeat(65_536 - '{"detail":""}'.length);
    const hostile =
      `\uFEFFretry: 0\r\nid: 7\r\n: open\r\n` +
      `id: 8\r\nevent: scan.error\r\ndata: ${JSON.stringify({ detail })}\r\n\r\n` +
      // The second half never comes.
      'event: scan.progress\r\ndata: {"checks_done":9}\r\n';
    const { cut, faulty } = faultyAnswer(hostile);
    await using server = await startScriptedServer(faulty, stream(`${progress(1)}${end}`));
    const log = watch(server.url, {
      onEvent: async ({ type, data }) => {
        if (type !== "scan.error") return;
        assert.equal(data.detail.length, detail.length);
        await cut().then(turnOfTheNetwork);
      },
    });
    assert.equal((await log.finished).state, "ended");
    assert.deepEqual(log.events(), ["scan.error", "scan.progress 1", "scan.end"]);
    // Nothing is replayed, so no id may be sent back as if it were.
    assert.equal(server.requests.at(-1)?.headers["last-event-id"], undefined);
  },
};

async function surviveFault(callback: Callback, fault: Fault, outcome: Outcome): Promise<void> {
  const { cut, endResponse, opened, faulty } = faultyAnswer(progress(1) + progress(2));
  const good = stream(progress(3) + end);
  await using server = await startScriptedServer(callback === "getAccessToken" ? good : faulty, good);
  const called = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const reconnecting = Promise.withResolvers<void>();
  let isFirst = true;
  const slow = async (): Promise<void> => {
    if (!isFirst) return;
    isFirst = false;
    called.resolve();
    await released.promise;
    if (outcome === "rejects") throw new Error("a late failure of the caller");
  };
  const subscription = subscribe<ScanEvents>(server.url, {
    ...quick,
    // So short that every stream without heartbeats stalls, or every token comes too late.
    ...(fault === "stall" ? (callback === "getAccessToken" ? { connectTimeoutMs: 50 } : { heartbeatMs: 20 }) : {}),
    ...(callback === "onEvent" || callback === "refetch" ? { [callback]: slow } : {}),
    ...(callback === "getAccessToken" ? { getAccessToken: () => slow().then(() => "token") } : {}),
    onStateChange: async (state) => {
      if (state === "reconnecting") reconnecting.resolve();
      if (state === "live" && callback === "onStateChange") await slow();
    },
  });
  await called.promise;
  if (callback !== "getAccessToken") await opened;
  if (fault === "close") subscription.close();
  if (fault === "cut") await cut();
  if (fault === "end") await endResponse();
  // While an event is being worked on nothing is read, and so nothing is noticed.
  if (callback === "onEvent") await turnOfTheNetwork();
  else if (fault !== "close") await reconnecting.promise;
  released.resolve();
  const { state } = await subscription.finished;
  const isBug = outcome === "rejects" && (callback === "onEvent" || callback === "onStateChange");
  assert.equal(state, fault === "close" ? "closed" : isBug ? "failed" : "ended");
  // A rejection that nothing handles is reported once the microtasks of its turn are done.
  await turnOfTheNetwork();
}

/** Resolves when everything that was sent to this process before was read. */
export async function turnOfTheNetwork(): Promise<void> {
  await using server = await startScriptedServer(status(204));
  await (await fetch(server.url)).body?.cancel();
}

/** An open stream whose connection breaks, or whose response ends, when the test says so; each resolves once that was done. */
function faultyAnswer(text: string) {
  const opened = Promise.withResolvers<Parameters<Answer>[0]>();
  const faulty: Answer = async (response, request) => {
    await stream(text)(response, request);
    opened.resolve(response);
  };
  return {
    faulty,
    opened: opened.promise,
    async cut() {
      const { socket } = await opened.promise;
      if (socket === null || socket.destroyed) return;
      const isClosed = once(socket, "close");
      socket.resetAndDestroy();
      await isClosed;
    },
    async endResponse() {
      const response = await opened.promise;
      await new Promise<void>((resolve) => response.end(resolve));
    },
  };
}
