import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { endsSoon, toAttention, toViews } from "../model/needs_you.ts";
import { parseRoute } from "../model/route.ts";
import { mayDo, type Session } from "../model/session.ts";
import { handleShortcut } from "../model/shortcuts.ts";
import { createTenantStore } from "../model/tenant_store.ts";
import { Button, ConnectionNotice, MissingPage, SessionEnd } from "./basics.tsx";
import { useLifetime, useNow, useStore, useTabMark } from "./hooks.ts";
import { OverviewPage } from "./overview_page.tsx";

interface AccountActions {
  readonly onSignOut: () => void;
  /** The gateway shows this person nothing of the tenant any more. */
  readonly onRefused: () => void;
  readonly onTenant: (tenantId: string) => void;
}

const loadPages = () => import("./pages.ts");

/** The signed-in page: all organizations, or what the address names. */
export function Shell({ session, ...account }: AccountActions & { readonly session: Session }) {
  const { api } = session;
  const tenant = useStore((onChange) =>
    createTenantStore(api, { overview: session.overview, onChange, onRefused: account.onRefused }),
  );
  const signal = useLifetime();
  const main = useRef<HTMLElement>(null);
  const [pages, setPages] = useState<Awaited<ReturnType<typeof loadPages>> | null>(null);
  const [loading, setLoading] = useState("Loading…");
  // As it is before anything needs somebody.
  const [iconUrl] = useState(() => document.querySelector<HTMLLinkElement>('link[rel="icon"]')?.href);
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  // Drawing the ages of 1,000 organizations takes a tenth of a second.
  useNow(Math.max(1000, 5 * tenant.organizations.length));
  useEffect(() => {
    // The files of a gateway that was upgraded have other names.
    loadPages().then(setPages, () => setLoading("This part of the page could not be loaded. Reload the page."));
    addEventListener("hashchange", () => setRoute(parseRoute(location.hash)), { signal });
    document.addEventListener("keydown", handleShortcut, { signal });
  }, [signal]);
  const target = JSON.stringify(route);
  useLayoutEffect(() => {
    // A sign-in and a followed link lead to what they are for also with a screen reader.
    main.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [target]);
  const views = toViews(tenant, api.nowMs());
  useTabMark(toAttention(views, tenant.connection));
  const ending = tenant.decisions.filter((decision) => endsSoon(decision, api.nowMs())).length;
  const { caller } = tenant;
  // A role that was given or taken since the sign-in.
  const shared = { session: { ...session, caller }, tenant };

  function shownPage() {
    if (route.page === "overview") return <OverviewPage {...shared} views={views} />;
    if (route.page === "unknown") {
      return (
        <MissingPage
          title="Page not found"
          text={`The address ${location.hash.slice(0, 200)} is not a page of this site. Part of it may be missing.`}
        />
      );
    }
    if (pages === null) return <p role="status">{loading}</p>;
    if (route.page === "decisions") return <pages.DecisionsPage {...shared} />;
    if (route.page === "settings") return <pages.SettingsPage session={shared.session} section={route.section} />;
    return <pages.OrganizationPage key={`${route.page} ${route.id}`} {...shared} route={route} />;
  }

  return (
    <div>
      <header class="top row">
        <button type="button" class="skip button" onClick={() => main.current?.focus()}>
          Skip to the content
        </button>
        <a class="brand row" href="#/">
          <img src={iconUrl} alt="" width={22} height={22} />
          scanstream
        </a>
        <nav class="row grow" aria-label="Pages">
          <a href="#/decisions" aria-current={route.page === "decisions" ? "page" : undefined}>
            Decisions
            {ending > 0 && (
              <span class="badge">
                {ending}
                <span>{ending === 1 ? " ends soon" : " end soon"}</span>
              </span>
            )}
          </a>
          {mayDo(caller, "manage") && (
            <a href="#/settings" aria-current={route.page === "settings" ? "page" : undefined}>
              Settings
            </a>
          )}
        </nav>
        <Account session={session} {...account} />
      </header>
      <SessionEnd session={session} />
      <ConnectionNotice connection={tenant.connection} retryNow={tenant.retryNow} />
      <main ref={main} id="main" tabIndex={-1}>
        {shownPage()}
      </main>
    </div>
  );
}

/** The caller, the tenant, and the way out. */
function Account({ session, onSignOut, onTenant }: AccountActions & { readonly session: Session }) {
  const { caller } = session;
  const { kind } = session.credential;
  const { tenant, tenants } = caller;
  const name = caller.name ?? caller.id;
  return (
    <>
      {tenants.length > 1 && tenant !== null && (
        <select
          aria-label="Tenant"
          value={tenant.id}
          onChange={({ currentTarget }) => {
            onTenant(currentTarget.value);
            // The present tenant stays open until the other one is.
            currentTarget.value = tenant.id;
          }}
        >
          {tenants.map(({ id, name, role }) => (
            <option key={id} value={id}>
              {role === null ? name : `${name} (${role})`}
            </option>
          ))}
        </select>
      )}
      <button type="button" class="button quiet account one-line" popovertarget="account" title={name}>
        {kind === "demo" ? "Demo session" : name}
      </button>
      <div id="account" popover="auto" class="menu stack">
        <p class="one-line">{tenant?.name}</p>
        <p class="fine one-line">{kind === "demo" ? "The gateway signed you in by itself" : caller.id}</p>
        {kind !== "demo" && <Button label="Sign out" onClick={onSignOut} />}
      </div>
    </>
  );
}
