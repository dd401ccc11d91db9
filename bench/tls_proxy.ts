import { writeFile } from "node:fs/promises";
import { Agent, createServer, request as forward } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import { join } from "node:path";
import { listen } from "../test/support/listen.ts";
import { createSelfSigned } from "../test/support/self_signed.ts";

/**
 * An HTTPS proxy that is the one host by itself: it ends TLS and hands requests to a server on loopback. So that programs
 * that accept only names of the provider's own domain, and only https, reach a practice org, unchanged.
 */
export async function startTlsProxy(host: string, folder: string, serverPort: number) {
  const { cert, key } = createSelfSigned(host);
  const certFile = join(folder, "certificate.pem");
  await writeFile(certFile, cert);
  const agent = new Agent({ keepAlive: true });
  let requests = 0;
  const tls = createTlsServer({ cert, key }, (incoming, outgoing) => {
    requests += 1;
    const { method, url: path, headers } = incoming;
    const request = forward({ agent, port: serverPort, host: "127.0.0.1", method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    request.on("error", () => outgoing.destroy());
    incoming.pipe(request);
  });
  const proxy = createServer((_incoming, outgoing) => outgoing.writeHead(403).end());
  proxy.on("connect", (request, socket: Socket) => {
    socket.on("error", () => socket.destroy());
    if (request.url === `${host}:443`) {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      tls.emit("connection", socket);
    } else {
      socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    }
  });
  const { url } = await listen(proxy);
  return {
    /** Variables of a program whose requests to the host go to the server. */
    environment: { HTTPS_PROXY: url, SSL_CERT_FILE: certFile, NODE_EXTRA_CA_CERTS: certFile },
    /** Handed on so far. */
    requests: () => requests,
    stop() {
      proxy.close();
      tls.closeAllConnections();
      agent.destroy();
    },
  };
}
