import { Hono } from "hono";
import { expect, test } from "vitest";
import { createApp } from "../../../gateway/app.ts";
import { anyone } from "../../../gateway/auth/access.ts";
import type { Feature } from "../../../gateway/features/features.ts";
import type { Allowed } from "../../../gateway/http/allow.ts";
import type { Dependencies } from "../../../gateway/http/dependencies.ts";

const dependencies: unknown = new Proxy(() => dependencies, { get: () => dependencies });

function mount(routes: Hono<Allowed>): void {
  const feature = { prefix: "widget", eventStreams: {}, routes: () => routes } satisfies Feature;
  createApp(dependencies as Dependencies, [feature]);
}

test("a gateway with a route that declares no permission does not start", () => {
  const forgetful = [
    new Hono<Allowed>().get("/widgets", (c) => c.text("secret")),
    new Hono<Allowed>().all("/widgets", (c) => c.text("secret")),
    // A handler before the declaration is reached without it.
    new Hono<Allowed>().get("/widgets", (c) => c.text("secret"), anyone),
  ];
  for (const routes of forgetful)
    expect(() => mount(routes)).toThrow(/(?:GET|ALL) \/api\/v1\/widgets: it declares no permission/);
  expect(() => mount(new Hono<Allowed>().get("/widgets", anyone, (c) => c.text("open")))).not.toThrow();
});
