import type { TargetedSubmitEvent } from "preact";
import { useCallback, useRef, useState } from "preact/hooks";
import { roleSchema, type Member, type Role } from "../../../../shared/schemas/team.ts";
import type { Session } from "../../model/session.ts";
import { addMember, changeRole, listMembers, removeMember } from "../../team_wire.ts";
import { Time } from "../basics.tsx";
import { useNow } from "../hooks.ts";
import { ConfirmDialog, Outcome, Rows } from "./parts.tsx";
import { useAction, type Action } from "./use_action.ts";
import { usePages } from "./use_pages.ts";

const roles = roleSchema.options;

const roleTexts: Readonly<Record<Role, string>> = {
  viewer: "viewer: reads and follows",
  operator: "operator: also cancels and deletes scans, waives findings and attests checks",
  admin: "admin: also manages members and API keys",
};

/** Who belongs to the tenant, and what they may do. */
export function MembersSettings({ session: { api, caller } }: { readonly session: Session }) {
  const pages = usePages(useCallback((request) => listMembers(api, request), [api]));
  const action = useAction();
  const [removing, setRemoving] = useState<Member | null>(null);
  useNow();
  const nowMs = api.nowMs();
  const admins = pages.items.filter(({ role }) => role === "admin");
  const isOnlyAdmin = ({ role }: Member) => role === "admin" && admins.length === 1 && !pages.hasMore;
  const isSelf = ({ sub }: Member) => caller.kind === "user" && caller.id === sub;

  async function change(what: string, work: (signal: AbortSignal) => Promise<string>): Promise<boolean> {
    const isDone = await action.run(what, work);
    if (isDone) pages.reload();
    return isDone;
  }

  return (
    <>
      <AddMember
        action={action}
        add={(sub, role) =>
          change("add the member", async (signal) => {
            const member = await addMember(api, { sub, role }, signal);
            return `Added ${member.sub} as ${member.role}`;
          })
        }
      />
      <Outcome action={action} />
      <Rows
        pages={pages}
        label="Members"
        emptyText="No members yet. Only the subjects listed here can sign in."
        row={(member) => (
          <li key={member.sub} class="settings-row">
            <span class="grow">
              <span class="strong settings-name">{member.sub}</span>
              <span class="fine">
                {"Member since "}
                <Time atMs={Date.parse(member.created_at)} nowMs={nowMs} />
              </span>
            </span>
            {isSelf(member) || isOnlyAdmin(member) ? (
              <span class="note">
                {`${member.role} · ${isSelf(member) ? "you: another admin can change it" : "the last admin cannot be changed"}`}
              </span>
            ) : (
              <MemberControls
                key={member.role}
                member={member}
                isBusy={action.isBusy}
                save={(role) =>
                  void change("change the role", async (signal) => {
                    const changed = await changeRole(api, { sub: member.sub, role }, signal);
                    return `${changed.sub} is ${changed.role} now`;
                  })
                }
                remove={() => setRemoving(member)}
              />
            )}
          </li>
        )}
      />
      {removing !== null && (
        <ConfirmDialog
          title={`Remove ${removing.sub}?`}
          text="They lose access immediately; open streams close within 30 seconds."
          confirm="Remove"
          onClose={() => setRemoving(null)}
          onConfirm={() =>
            void change("remove the member", async (signal) => {
              await removeMember(api, removing.sub, signal);
              return `Removed ${removing.sub}`;
            })
          }
        />
      )}
    </>
  );
}

function AddMember(props: { readonly action: Action; readonly add: (sub: string, role: Role) => Promise<boolean> }) {
  const field = useRef<HTMLInputElement>(null);
  const [role, setRole] = useState<Role>("operator");

  async function submit(event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const input = field.current;
    if (input === null || input.value.trim() === "") return input?.focus();
    if (await props.add(input.value.trim(), role)) input.value = "";
  }

  return (
    <form class="settings-form" aria-label="Add a member" onSubmit={(event) => void submit(event)}>
      <label class="field grow">
        Subject
        <input
          ref={field}
          name="sub"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          maxLength={255}
          required
          aria-describedby="sub-hint"
        />
      </label>
      <label class="field">
        Role
        <RoleSelect value={role} setValue={setRole} />
      </label>
      <button type="submit" class="button button-primary" disabled={props.action.isBusy}>
        Add member
      </button>
      <p class="note" id="sub-hint">
        The subject is the <code>sub</code> claim of the person’s tokens, as your issuer sends it.
      </p>
    </form>
  );
}

/** The role is saved by a button: with the keyboard a list changes with each arrow. */
function MemberControls(props: {
  readonly member: Member;
  readonly isBusy: boolean;
  readonly save: (role: Role) => void;
  readonly remove: () => void;
}) {
  const { member, isBusy, save, remove } = props;
  const [role, setRole] = useState(member.role);
  return (
    <span class="row wrap">
      <RoleSelect value={role} setValue={setRole} label={`Role of ${member.sub}`} />
      {role !== member.role && (
        <button type="button" class="button button-primary" disabled={isBusy} onClick={() => save(role)}>
          Save
        </button>
      )}
      <button
        type="button"
        class="button button-quiet"
        disabled={isBusy}
        aria-label={`Remove ${member.sub}`}
        onClick={remove}
      >
        Remove
      </button>
    </span>
  );
}

function RoleSelect(props: { readonly value: Role; readonly setValue: (role: Role) => void; readonly label?: string }) {
  const { value, setValue, label } = props;
  return (
    <select aria-label={label} value={value} onChange={({ currentTarget }) => setValue(currentTarget.value as Role)}>
      {roles.map((role) => (
        <option key={role} value={role} title={roleTexts[role]}>
          {role}
        </option>
      ))}
    </select>
  );
}
