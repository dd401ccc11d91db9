import type { LostReason } from "../../shared/broker.ts";
import { createUpstashBroker } from "../../shared/brokers/upstash.ts";

interface Bindings {
  readonly URL: string;
  readonly TOKEN: string;
  readonly HUB: {
    idFromName(name: string): unknown;
    get(id: unknown): { fetch(request: Request): Promise<Response> };
  };
}

const createBroker = (env: Bindings) =>
  createUpstashBroker({ url: env.URL, token: env.TOKEN, database: 2, timeoutMs: 1000, idleMs: 200, graceMs: 600 });

/** A Durable Object that holds one broker over many requests, as the gateway's does. */
export class Hub {
  readonly #broker: ReturnType<typeof createBroker>;
  readonly #received: string[] = [];
  #leaving = new AbortController();

  constructor(_state: unknown, env: Bindings) {
    this.#broker = createBroker(env);
  }

  async fetch(request: Request): Promise<Response> {
    try {
      return Response.json(await this.#answer(new URL(request.url).pathname));
    } catch (error) {
      return new Response(error instanceof Error ? error.message : "unknown", { status: 503 });
    }
  }

  async #answer(path: string): Promise<unknown> {
    if (path === "/subscribe") {
      const handlers = {
        onMessage: (message: string) => void this.#received.push(message),
        onLost: (reason: LostReason) => void this.#received.push(`lost ${reason}`),
      };
      await this.#broker.subscribe("channel", handlers, this.#leaving.signal);
    } else if (path === "/leave") {
      this.#leaving.abort();
      this.#leaving = new AbortController();
    } else if (path === "/publish") {
      await Promise.all(["a", "b"].map((message) => this.#broker.publish("channel", message)));
    }
    return this.#received;
  }
}

// oxlint-disable-next-line import/no-default-export -- a Worker's entry is its default export
export default {
  async fetch(request: Request, env: Bindings): Promise<Response> {
    // What a request without an object does: a broker of its own.
    if (new URL(request.url).pathname === "/publish-once") {
      await createBroker(env).publish("channel", "once");
      return new Response("published");
    }
    return env.HUB.get(env.HUB.idFromName("hub")).fetch(request);
  },
};
