import { createApp } from "../../gateway/app.ts";
import { requireDeclared, type DeclaredRoute } from "../../gateway/http/allow.ts";
import { scanstreamFeatures } from "../../gateway/features/scanstream_features.ts";
import type { Dependencies } from "../../gateway/http/dependencies.ts";

/** Every route of the gateway, from the gateway's own table. */
export function servedRoutes(): readonly DeclaredRoute[] {
  const { routes } = createApp(anything as Dependencies, scanstreamFeatures({ retentionDays: null, historyDays: 400 }));
  return requireDeclared(routes.filter(({ method }) => method !== "ALL"));
}

/** Stands for dependencies that are handed on and, before the first request, not used. */
export const anything: unknown = new Proxy(() => anything, { get: () => anything });
