import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface DuplicatingProxy {
  readonly url: string;
  close(): Promise<void>;
}

/** An HTTP proxy that sends each request twice, one after the other, and gives back the second answer. */
export async function startDuplicatingProxy(target: string): Promise<DuplicatingProxy> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => void chunks.push(chunk));
    request.on("end", () => void answer().catch(() => response.destroy()));

    async function answer(): Promise<void> {
      const { method = "GET", url = "/" } = request;
      const body = chunks.length === 0 ? null : Buffer.concat(chunks);
      const headers = { authorization: request.headers.authorization ?? "", "content-type": "application/json" };
      const send = () => fetch(new URL(url, target), { method, headers, body });
      await (await send()).arrayBuffer();
      const second = await send();
      response.writeHead(second.status, { "content-type": second.headers.get("content-type") ?? "" });
      response.end(Buffer.from(await second.arrayBuffer()));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
