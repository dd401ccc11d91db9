import type { Role } from "../../../../shared/schemas/team.ts";
import type { Session } from "../../model/session.ts";

const kinds: Readonly<Record<Session["kind"], string>> = {
  demo: "The demo session, which the page opens automatically",
  pasted: "A token or key that was pasted; this tab forgets it when it is reloaded",
  issuer: "Signed in at the issuer; renewed automatically until you sign out, forgotten when the tab is reloaded",
};

export const roleTexts: Readonly<Record<Role, string>> = {
  viewer: "viewer: reads and follows",
  auditor: "auditor: reads and follows, and reads the audit trail over the API",
  operator: "operator: also cancels and deletes scans, waives findings and attests checks",
  admin: "admin: also manages members and API keys",
};

/** Who the gateway takes the caller for, and what they may do. */
export function SessionSettings({ session: { kind, caller } }: { readonly session: Session }) {
  const { id, name, scopes, tenant, tenants } = caller;
  return (
    <dl class="facts">
      <Fact name={caller.kind === "user" ? "Person" : "API key"} value={name === null ? id : `${name} (${id})`} />
      <Fact name="Session" value={kinds[kind]} />
      {tenant !== null && <Fact name="Tenant" value={`${tenant.name} (${tenant.id})`} />}
      {tenant !== null && tenant.role !== null && <Fact name="Role" value={roleTexts[tenant.role]} />}
      {scopes !== null && <Fact name="Scopes" value={scopes.join(", ")} />}
      {tenants.length > 1 && (
        <Fact name="All tenants" value={tenants.map((one) => `${one.name} (${one.role ?? ""})`).join(", ")} />
      )}
    </dl>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt class="fine">{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
