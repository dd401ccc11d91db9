import type { TargetedSubmitEvent } from "preact";
import { useCallback, useRef, useState } from "preact/hooks";
import { memberSchema, roleSchema, type Member, type Role } from "../../../../shared/schemas/team.ts";
import { mayDo } from "../../model/permissions.ts";
import type { Session } from "../../model/session.ts";
import { Button, ConfirmDialog, Time } from "../basics.tsx";
import { useList } from "../hooks.ts";
import { EditedList, useChanges } from "./edited_list.tsx";

const membersPath = "api/v1/members";
const pathOf = (sub: string) => `${membersPath}/${encodeURIComponent(sub)}`;

const roleTexts: Readonly<Record<Role, string>> = {
  viewer: "viewer: reads and follows",
  operator: "operator: also cancels scans, waives and attests",
  admin: "admin: also manages members and keys",
};

/** Members of the tenant, and their roles. */
export function Members({ session: { api, caller } }: { readonly session: Session }) {
  const list = useList(useCallback((signal) => api.list(membersPath, memberSchema, signal), [api]));
  const { isBusy, run, ...changes } = useChanges(list.reload);
  const [removing, setRemoving] = useState<Member | null>(null);
  const admins = list.items?.filter(({ role }) => role === "admin").length;
  const mayAppoint = mayDo(caller, "appoint");

  /** Why nobody changes this member here; null: somebody may. */
  function fixedText({ sub, role }: Member): string | null {
    if (caller.kind === "user" && caller.id === sub) return `${role} · you: another admin can change it`;
    return role === "admin" && admins === 1 ? `${role} · the last admin cannot be changed` : null;
  }

  return (
    <>
      <EditedList
        label="Members"
        form={
          mayAppoint && (
            <MemberForm
              isBusy={isBusy}
              add={(sub, role) =>
                run("add the member", async (signal) => {
                  await api.send("POST", membersPath, { signal, body: { sub, role } });
                  return `Added ${sub} as ${role}`;
                })
              }
            />
          )
        }
        list={list}
        changes={changes}
        emptyText="No members yet. Only the subjects listed here can sign in."
        row={(member) => {
          const { sub, role } = member;
          const fixed = fixedText(member);
          return (
            <li key={sub} class="row wrap">
              <span class="grow">
                <strong>{sub}</strong>
                <span class="fine">
                  {" since "}
                  <Time atMs={Date.parse(member.created_at)} nowMs={api.nowMs()} />
                </span>
              </span>
              {fixed !== null || !mayAppoint ? (
                <span class="fine">{fixed ?? role}</span>
              ) : (
                <MemberRole
                  key={role}
                  member={member}
                  isBusy={isBusy}
                  save={(next) =>
                    void run("change the role", async (signal) => {
                      await api.send("PATCH", pathOf(sub), { signal, body: { role: next } });
                      return `${sub} is ${next} now`;
                    })
                  }
                />
              )}
              {fixed === null && (
                <Button
                  look="small"
                  label="Remove"
                  disabled={isBusy}
                  aria-label={`Remove ${sub}`}
                  onClick={() => setRemoving(member)}
                />
              )}
            </li>
          );
        }}
      />
      {removing !== null && (
        <ConfirmDialog
          title={`Remove ${removing.sub}?`}
          text="They lose access immediately; open streams close within 30 seconds."
          confirm="Remove"
          onClose={() => setRemoving(null)}
          onConfirm={() =>
            void run("remove the member", async (signal) => {
              await api.send("DELETE", pathOf(removing.sub), { signal });
              return `Removed ${removing.sub}`;
            })
          }
        />
      )}
    </>
  );
}

interface MemberFormProps {
  readonly isBusy: boolean;
  readonly add: (sub: string, role: Role) => Promise<boolean>;
}

function MemberForm({ isBusy, add }: MemberFormProps) {
  const field = useRef<HTMLInputElement>(null);
  const [role, setRole] = useState<Role>("viewer");
  async function submit(event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const input = field.current;
    if (input === null || input.value.trim() === "") return input?.focus();
    if (await add(input.value.trim(), role)) input.value = "";
  }
  return (
    <form class="row wrap fields" aria-label="Add a member" onSubmit={(event) => void submit(event)}>
      <label class="stack grow">
        Subject
        <input ref={field} autocomplete="off" spellcheck={false} maxLength={255} required aria-describedby="sub-hint" />
      </label>
      <label class="stack">
        Role
        <RoleSelect value={role} setValue={setRole} />
      </label>
      <button type="submit" class="button primary" disabled={isBusy}>
        Add member
      </button>
      <p class="fine" id="sub-hint">
        The subject is the <code>sub</code> claim of the person’s tokens, as your issuer sends it.
      </p>
    </form>
  );
}

interface MemberRoleProps {
  readonly member: Member;
  readonly isBusy: boolean;
  readonly save: (role: Role) => void;
}

/** A role that is saved by a button: with the keyboard a list changes with each arrow. */
function MemberRole({ member, isBusy, save }: MemberRoleProps) {
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

interface RoleSelectProps {
  readonly value: Role;
  readonly setValue: (role: Role) => void;
  readonly label?: string;
}

function RoleSelect({ value, setValue, label }: RoleSelectProps) {
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
