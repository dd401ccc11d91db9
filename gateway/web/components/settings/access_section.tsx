import { permissions, type Permission } from "../../../auth/permissions.ts";
import { mayDo } from "../../model/caller.ts";
import type { SectionProps, SettingsSection } from "./section.ts";

/** What the caller may do here, for every member and key. */
export const accessSection: SettingsSection = { id: "access", title: "Your access", permission: "read", Content };

function Content({ caller }: SectionProps) {
  const names = Object.keys(permissions) as Permission[];
  return (
    <dl class="facts">
      <dt>{caller.kind === "user" ? "Signed in as" : "Signed in with the API key"}</dt>
      <dd>{caller.name === null ? caller.id : `${caller.name} (${caller.id})`}</dd>
      <dt>Tenant</dt>
      <dd>{`${caller.tenant.name} (${caller.tenant.id})`}</dd>
      <dt>{caller.role === null ? "Scopes" : "Role"}</dt>
      <dd>{caller.role ?? (caller.scopes ?? []).join(", ")}</dd>
      <dt>You may</dt>
      <dd>
        <ul>
          {names
            .filter((name) => mayDo(caller, name))
            .map((name) => (
              <li key={name}>{permissions[name].description}</li>
            ))}
        </ul>
      </dd>
    </dl>
  );
}
