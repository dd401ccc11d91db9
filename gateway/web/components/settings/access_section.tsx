import { permissions, type Permission } from "../../../auth/permissions.ts";
import { mayDo } from "../../model/caller.ts";
import type { Session } from "../../model/session.ts";
import type { SectionProps, SettingsSection } from "./section.ts";

const kinds: Readonly<Record<Session["kind"], string>> = {
  demo: "The demo's own session, which the page opens by itself",
  pasted: "A token or key that was pasted; this tab forgets it when it is reloaded",
  issuer: "Signed in at the issuer; renewed by itself until you sign out, forgotten when the tab is reloaded",
};

/** Who the gateway takes the caller for, and what they may do. */
export const accessSection: SettingsSection = { id: "access", title: "Your access", permission: "read", Content };

function Content({ session: { kind, caller } }: SectionProps) {
  const { id, name, scopes, tenant, tenants } = caller;
  const allowed = (Object.keys(permissions) as Permission[]).filter((permission) => mayDo(caller, permission));
  return (
    <dl class="facts">
      <Fact name={caller.kind === "user" ? "Person" : "API key"} value={name === null ? id : `${name} (${id})`} />
      <Fact name="Session" value={kinds[kind]} />
      {tenant !== null && <Fact name="Tenant" value={`${tenant.name} (${tenant.id})`} />}
      {tenant !== null && tenant.role !== null && <Fact name="Role" value={tenant.role} />}
      {scopes !== null && <Fact name="Scopes" value={scopes.join(", ")} />}
      <Fact name="You may" value={allowed.map((permission) => permissions[permission].description).join("; ")} />
      {tenants.length > 1 && (
        <Fact name="All tenants" value={tenants.map((one) => `${one.name} (${one.role ?? ""})`).join(", ")} />
      )}
    </dl>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}
