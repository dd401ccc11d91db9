import type { TargetedSubmitEvent } from "preact";
import { useCallback, useRef, useState } from "preact/hooks";
import { permissions } from "../../../auth/permissions.ts";
import { scopeSchema, type ApiKey, type CreatedApiKey, type Scope } from "../../../../shared/schemas/team.ts";
import { mayDo } from "../../model/caller.ts";
import type { Session } from "../../model/session.ts";
import { createKey, listKeys, revokeKey, type KeyRequest } from "../../team_wire.ts";
import { Time } from "../basics.tsx";
import { useNow } from "../hooks.ts";
import { ConfirmDialog, Outcome, Rows } from "./parts.tsx";
import { ShownSecret } from "./shown_secret.tsx";
import { useAction } from "./use_action.ts";
import { usePages } from "./use_pages.ts";

const dayMs = 86_400_000;
const scopes: readonly Scope[] = scopeSchema.options;
const lifetimes: readonly (readonly [days: number, label: string])[] = [
  [30, "in 30 days"],
  [90, "in 90 days"],
  [365, "in a year"],
  [0, "never"],
];

/** What programs sign in with. */
export function KeysSettings({ session: { api, caller } }: { readonly session: Session }) {
  const pages = usePages(useCallback((request) => listKeys(api, request), [api]));
  const action = useAction();
  const [created, setCreated] = useState<CreatedApiKey | null>(null);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  useNow();
  const nowMs = api.nowMs();

  async function create(key: KeyRequest): Promise<boolean> {
    const isDone = await action.run("create the key", async (signal) => {
      setCreated(await createKey(api, key, signal));
      return `The key ${key.name} was created`;
    });
    if (isDone) pages.reload();
    return isDone;
  }

  async function revoke(key: ApiKey): Promise<void> {
    const isDone = await action.run("revoke the key", async (signal) => {
      await revokeKey(api, key.id, signal);
      return `The key ${key.name} was revoked`;
    });
    if (!isDone) return;
    if (created?.id === key.id) setCreated(null);
    pages.reload();
  }

  return (
    <>
      {mayDo(caller, "appoint") && <NewKeyForm isBusy={action.isBusy} nowMs={api.nowMs} create={create} />}
      <Outcome action={action} />
      {created !== null && (
        <ShownSecret
          label={`The key ${created.name}`}
          fieldLabel={`API key ${created.name}`}
          urge="Copy the key now."
          note="It is not shown again: the gateway keeps only its hash."
          text={created.api_key}
          onDone={() => setCreated(null)}
        />
      )}
      <Rows
        pages={pages}
        label="API keys"
        emptyText="No API keys yet. A scanner needs one to report here."
        row={(key) => {
          const isOver = key.revoked_at !== null || (key.expires_at !== null && Date.parse(key.expires_at) <= nowMs);
          return (
            <li key={key.id} class={`settings-row${isOver ? " settings-over" : ""}`}>
              <span class="grow">
                <span class="strong settings-name">{key.name}</span>
                <span class="fine">
                  <code>{key.prefix}…</code>
                  {` · ${key.scopes.join(", ")} · created `}
                  <Time atMs={Date.parse(key.created_at)} nowMs={nowMs} />
                  {" · "}
                  {key.last_used_at === null ? (
                    "never used"
                  ) : (
                    <>
                      {"last used "}
                      <Time atMs={Date.parse(key.last_used_at)} nowMs={nowMs} />
                    </>
                  )}
                </span>
              </span>
              <KeyState apiKey={key} isOver={isOver} nowMs={nowMs} />
              {!isOver && caller.id === key.id && <span class="note">you are signed in with it</span>}
              {!isOver && caller.id !== key.id && (
                <button
                  type="button"
                  class="button button-quiet"
                  disabled={action.isBusy}
                  aria-label={`Revoke ${key.name} (${key.prefix})`}
                  onClick={() => setRevoking(key)}
                >
                  Revoke
                </button>
              )}
            </li>
          );
        }}
      />
      {revoking !== null && (
        <ConfirmDialog
          title={`Revoke ${revoking.name}?`}
          text={`The key ${revoking.prefix}… stops working at once and for good; its streams close within 30 seconds.`}
          confirm="Revoke"
          onClose={() => setRevoking(null)}
          onConfirm={() => void revoke(revoking)}
        />
      )}
    </>
  );
}

const soonMs = 14 * dayMs;

function KeyState({
  apiKey,
  isOver,
  nowMs,
}: {
  readonly apiKey: ApiKey;
  readonly isOver: boolean;
  readonly nowMs: number;
}) {
  const { revoked_at: revokedAt, expires_at: expiresAt } = apiKey;
  if (revokedAt !== null) return <span class="badge tinted tone-none">Revoked</span>;
  if (expiresAt === null) return <span class="note">never expires</span>;
  const isSoon = Date.parse(expiresAt) - nowMs < soonMs;
  return (
    <span class={isOver || isSoon ? `badge tinted ${isOver ? "tone-fail" : "tone-manual"}` : "note"}>
      {isOver ? "Expired " : "Expires "}
      <Time atMs={Date.parse(expiresAt)} nowMs={nowMs} />
    </span>
  );
}

function NewKeyForm(props: {
  readonly isBusy: boolean;
  readonly nowMs: () => number;
  readonly create: (key: KeyRequest) => Promise<boolean>;
}) {
  const { isBusy, nowMs, create } = props;
  const name = useRef<HTMLInputElement>(null);
  const [chosen, setChosen] = useState<readonly Scope[]>(scopes.filter((scope) => scope !== "admin"));
  const [days, setDays] = useState(90);

  async function submit(event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const input = name.current;
    if (input === null || input.value.trim() === "") return input?.focus();
    const expiresAt = days === 0 ? null : new Date(nowMs() + days * dayMs).toISOString();
    if (await create({ name: input.value.trim(), scopes: chosen, expires_at: expiresAt })) input.value = "";
  }

  return (
    <form class="settings-form" aria-label="Create an API key" onSubmit={(event) => void submit(event)}>
      <label class="field grow">
        Name
        <input ref={name} name="name" autocomplete="off" maxLength={200} required placeholder="what it is for" />
      </label>
      <label class="field">
        Expires
        <select value={String(days)} onChange={({ currentTarget }) => setDays(Number(currentTarget.value))}>
          {lifetimes.map(([value, label]) => (
            <option key={value} value={String(value)}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <fieldset class="field scopes">
        <legend>Scopes</legend>
        {scopes.map((scope) => (
          <label key={scope} class="row scope">
            <input
              type="checkbox"
              checked={chosen.includes(scope)}
              onChange={({ currentTarget }) =>
                setChosen(scopes.filter((each) => (each === scope ? currentTarget.checked : chosen.includes(each))))
              }
            />
            <span>
              <span class="strong">{scope}</span> <span class="fine">{scopeText(scope)}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <button type="submit" class="button button-primary" disabled={isBusy || chosen.length === 0}>
        Create key
      </button>
    </form>
  );
}

/** What the scope is for, from the table that the gateway goes by. */
function scopeText(wanted: Scope): string {
  return Object.values(permissions)
    .filter(({ scopes: needed }) => needed.some((scope) => scope === wanted))
    .map(({ description }) => description)
    .join("; ");
}
