import { mayDo } from "../model/caller.ts";
import { formatTime, setZone } from "../model/format.ts";
import type { Session } from "../model/session.ts";
import { useZone } from "./hooks.ts";

export interface AccountActions {
  readonly onSignOut: () => void;
  /** The gateway shows this person nothing of the tenant any more. */
  readonly onRefused: () => void;
  readonly onTenant: (tenantId: string) => void;
}

/** At the top of the page: who it is, in which tenant, and the ways out. */
export function Account({ session, onSignOut, onTenant }: AccountActions & { readonly session: Session }) {
  const { kind, caller } = session;
  const { tenant, tenants } = caller;
  const zone = useZone();
  return (
    <>
      {tenants.length > 1 && tenant !== null ? (
        <span class="tenant grow">
          <select
            aria-label="Tenant"
            value={tenant.id}
            onChange={({ currentTarget }) => {
              onTenant(currentTarget.value);
              // Until the other one is open, this one is.
              currentTarget.value = tenant.id;
            }}
          >
            {tenants.map(({ id, name, role }) => (
              <option key={id} value={id}>
                {role === null ? name : `${name} (${role})`}
              </option>
            ))}
          </select>
        </span>
      ) : (
        <span class="tenant grow one-line">{tenant?.name}</span>
      )}
      {kind === "demo" ? (
        <span class="badge tinted tone-accent">
          Demo session<span class="on-wide"> (automatic)</span>
        </span>
      ) : (
        <span class="caller one-line" title={caller.id}>
          {caller.name ?? caller.id}
        </span>
      )}
      <button
        type="button"
        class="button button-quiet zone"
        aria-pressed={zone === "utc"}
        title="Show all times in UTC"
        onClick={() => setZone(zone === "utc" ? "local" : "utc")}
      >
        UTC
      </button>
      <nav aria-label="Pages">
        <a class="button button-quiet" href="#/decisions">
          Decisions
        </a>
        {mayDo(caller, "manage") && (
          <a class="button button-quiet" href="#/settings">
            Settings
          </a>
        )}
      </nav>
      {kind !== "demo" && (
        <button type="button" class="button button-quiet" onClick={onSignOut}>
          Sign out
        </button>
      )}
    </>
  );
}

/** Some minutes before a session ends that cannot be renewed: what is open stays, and is open again afterwards. */
export function SessionEnd({ session }: { readonly session: Session }) {
  const { endsAtMs } = session;
  return (
    <p class="notice session-end row wrap" role="status" hidden={endsAtMs === null}>
      {endsAtMs !== null && (
        <>
          <span>{`Your session ends at ${formatTime(endsAtMs)}. To continue, sign in again at the issuer.`}</span>
          <button type="button" class="button button-small button-primary" onClick={() => void session.signInAgain()}>
            Sign in again
          </button>
        </>
      )}
    </p>
  );
}
