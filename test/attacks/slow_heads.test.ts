import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { startTestGateway } from "../support/test_gateway.ts";

test("a head that never ends is answered with 408 and closed", async () => {
  const gateway = await startTestGateway();
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
  let received = "";
  socket.setEncoding("utf8").on("data", (text: string) => void (received += text));
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.write("GET /api/v1/scans HTTP/1.1\r\nhost: x\r\nx-slow: ");
  // A byte now and then does not make it a request.
  const drip = setInterval(() => void socket.write("x"), 1000);
  await once(socket, "close");
  clearInterval(drip);
  expect(received).toMatch(/^HTTP\/1\.1 408 /);
  await gateway.stop();
});
