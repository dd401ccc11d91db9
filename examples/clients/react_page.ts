import { createElement as h } from "react";
import { createRoot } from "react-dom/client";
import { useScans } from "./use_scans.ts";

/** A page with the hook: `/session` is the application's own, and gives the user's access token. */

async function fetchAccessToken(): Promise<string> {
  const { access_token } = (await (await fetch("/session")).json()) as { readonly access_token: string };
  return access_token;
}

function Scans() {
  const { scans, state } = useScans("/api/v1/event-stream", fetchAccessToken);
  const rows = scans.map(({ id, org_url, checks_done, checks_total }) =>
    h("li", { key: id }, `${org_url}: ${checks_done} of ${checks_total}`),
  );
  return h("main", null, h("p", { role: "status" }, state), h("ul", null, rows));
}

createRoot(document.body).render(h(Scans));
