import { readFile } from "node:fs/promises";
import process from "node:process";
import { Hono } from "hono";
import { type Allowed, anyone, createGateway, defineFeature, serve } from "scanstream/gateway";
import { memory } from "scanstream/gateway/memory";
import { pglite } from "scanstream/gateway/pglite";
import { features } from "./features.ts";

/** On Node and Deno, with Postgres and the broker in this process. */
const page = defineFeature({
  prefix: "page",
  routes: () => new Hono<Allowed>().get("/page", anyone, async (c) => c.html(await readFile("page.html", "utf8"))),
});
const gateway = await createGateway({ features: [...features, page], database: pglite(), broker: memory() });
const { url, firstKey, stop } = await serve(gateway, { port: Number(process.env["PORT"] ?? 8787) });
console.log(`The gateway listens on ${url}`);
if (firstKey !== null) console.log(`The first API key, shown this once: ${firstKey}`);
process.once("SIGTERM", () => void stop().then(() => process.exit()));
