import { useCallback, useState } from "preact/hooks";
import { memberSchema, roleSchema, type Member, type Role } from "../../../../shared/schemas/team.ts";
import { isolated } from "../../model/format.ts";
import { mayDo, type Session } from "../../model/session.ts";
import { Button, ConfirmButton, Time } from "../basics.tsx";
import { AddForm, EditedList, useEditedList } from "./edited_list.tsx";

const membersPath = "api/v1/members";
const pathOf = (sub: string) => `${membersPath}/${encodeURIComponent(sub)}`;

const roleTexts: Readonly<Record<Role, string>> = {
  viewer: "viewer: reads and follows",
  operator: "operator: also cancels scans, waives and attests",
  admin: "admin: also manages members and keys",
};

/** Members of the tenant, and their roles. */
export function Members({ session: { api, caller } }: { readonly session: Session }) {
  const list = useEditedList(useCallback((signal) => api.list(membersPath, memberSchema, { signal }), [api]));
  const { isBusy, run } = list;
  const [newRole, setNewRole] = useState<Role>("viewer");
  const admins = list.items?.filter(({ role }) => role === "admin").length;
  const mayAppoint = mayDo(caller, "appoint");

  /** Why nobody changes this member here; null: somebody may. */
  function fixedText({ sub, role }: Member): string | null {
    if (!mayAppoint) return role;
    if (caller.kind === "user" && caller.id === sub) return `${role} · you: another admin can change it`;
    return role === "admin" && admins === 1 ? `${role} · the last admin cannot be changed` : null;
  }

  const save = (sub: string, role: Role) =>
    run("change the role", async (signal) => {
      await api.send("PATCH", pathOf(sub), { signal, body: { role } });
      return `${isolated(sub)} is ${role} now`;
    });
  const remove = (sub: string) =>
    run("remove the member", async (signal) => {
      await api.send("DELETE", pathOf(sub), { signal });
      return `Removed ${isolated(sub)}`;
    });

  return (
    <>
      {mayAppoint && (
        <AddForm
          label="Add a member"
          field={{ label: "Subject", maxLength: 255 }}
          button="Add member"
          isDisabled={isBusy}
          add={(sub) =>
            run("add the member", async (signal) => {
              await api.send("POST", membersPath, { signal, body: { sub, role: newRole } });
              return `Added ${isolated(sub)} as ${newRole}`;
            })
          }
          choice={
            <label class="stack">
              Role
              <RoleSelect value={newRole} setValue={setNewRole} />
            </label>
          }
        >
          <p class="fine">
            The subject is the <code>sub</code> claim of the person’s tokens, as your issuer sends it.
          </p>
        </AddForm>
      )}
      <EditedList
        label="Members"
        list={list}
        emptyText="No members yet. Only the subjects listed here can sign in."
        row={(member) => {
          const { sub, role } = member;
          const fixed = fixedText(member);
          return (
            <li key={sub} class="row wrap">
              <span class="grow">
                <strong>{sub}</strong>
                <span class="fine">
                  {" added "}
                  <Time atMs={Date.parse(member.created_at)} nowMs={api.nowMs()} />
                </span>
              </span>
              {fixed !== null ? (
                <span class="fine">{fixed}</span>
              ) : (
                <>
                  <MemberRole key={role} member={member} isBusy={isBusy} save={(next) => void save(sub, next)} />
                  <ConfirmButton
                    label="Remove"
                    disabled={isBusy}
                    aria-label={`Remove ${sub}`}
                    title={`Remove ${sub}?`}
                    text="They lose access immediately; open streams close within 30 seconds."
                    confirm="Remove"
                    onConfirm={() => void remove(sub)}
                  />
                </>
              )}
            </li>
          );
        }}
      />
    </>
  );
}

/** A role that is saved by a button: with the keyboard a list changes with each arrow. */
function MemberRole(props: { readonly member: Member; readonly isBusy: boolean; readonly save: (role: Role) => void }) {
  const { member, isBusy, save } = props;
  const [role, setRole] = useState(member.role);
  return (
    <>
      <RoleSelect label={`Role of ${member.sub}`} value={role} setValue={setRole} />
      {role !== member.role && (
        <Button look="small primary" label="Save" disabled={isBusy} onClick={() => save(role)} />
      )}
    </>
  );
}

function RoleSelect(props: { readonly value: Role; readonly setValue: (role: Role) => void; readonly label?: string }) {
  const { value, setValue, label } = props;
  return (
    <select aria-label={label} value={value} onChange={({ currentTarget }) => setValue(currentTarget.value as Role)}>
      {roleSchema.options.map((role) => (
        <option key={role} value={role}>
          {roleTexts[role]}
        </option>
      ))}
    </select>
  );
}
