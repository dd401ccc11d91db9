import type { TargetedSubmitEvent } from "preact";
import { useCallback, useRef, useState } from "preact/hooks";
import {
  apiKeySchema,
  createdApiKeySchema,
  scopeSchema,
  type ApiKey,
  type CreatedApiKey,
  type Scope,
} from "../../../../shared/schemas/team.ts";
import { permissions } from "../../../auth/permissions.ts";
import { parseAnswer } from "../../model/api.ts";
import { mayDo } from "../../model/permissions.ts";
import type { Session } from "../../model/session.ts";
import { ConfirmDialog, CopyButton, Time } from "../basics.tsx";
import { useList } from "../hooks.ts";
import { EditedList, useChanges } from "./edited_list.tsx";

const keysPath = "api/v1/api-keys";
const dayMs = 86_400_000;
const soonMs = 14 * dayMs;
const scopes: readonly Scope[] = scopeSchema.options;
const lifetimes: readonly (readonly [days: number, label: string])[] = [
  [30, "in 30 days"],
  [90, "in 90 days"],
  [365, "in a year"],
  [0, "never"],
];

interface KeyRequest {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expires_at: string | null;
}

/** The credentials of programs. */
export function Keys({ session: { api, caller } }: { readonly session: Session }) {
  const list = useList(useCallback((signal) => api.listAll(keysPath, apiKeySchema, signal), [api]));
  const changes = useChanges(list.reload);
  const [created, setCreated] = useState<CreatedApiKey | null>(null);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  const nowMs = api.nowMs();
  const create = (key: KeyRequest) =>
    changes.run("create the key", async (signal) => {
      setCreated(parseAnswer(createdApiKeySchema, await api.send("POST", keysPath, { signal, body: key })));
      return `The key ${key.name} was created`;
    });

  return (
    <>
      <EditedList
        label="API keys"
        form={
          <>
            {mayDo(caller, "appoint") && <KeyForm isBusy={changes.isBusy} nowMs={api.nowMs} create={create} />}
            {created !== null && (
              <div class="notice row wrap" role="group" aria-label={`The key ${created.name}`}>
                <strong>Copy the key now: it is not shown again.</strong>
                <input
                  class="credential grow"
                  readOnly
                  value={created.api_key}
                  aria-label={`API key ${created.name}`}
                />
                <CopyButton label="Copy" getText={() => created.api_key} />
                <button type="button" class="button small" onClick={() => setCreated(null)}>
                  Done
                </button>
              </div>
            )}
          </>
        }
        list={list}
        changes={changes}
        emptyText="No API keys yet. A scanner needs one to report here."
        row={(key) => {
          const isOver = key.revoked_at !== null || (key.expires_at !== null && Date.parse(key.expires_at) <= nowMs);
          return (
            <li key={key.id} class={`row wrap${isOver ? " fine" : ""}`}>
              <span class="grow">
                <strong>{key.name}</strong>
                <span class="fine">
                  {` ${key.prefix}… · ${key.scopes.join(", ")} · `}
                  {key.last_used_at === null ? "never used" : "last used "}
                  {key.last_used_at !== null && <Time atMs={Date.parse(key.last_used_at)} nowMs={nowMs} />}
                </span>
              </span>
              <KeyEnd apiKey={key} isOver={isOver} nowMs={nowMs} />
              {!isOver && caller.id === key.id && <span class="fine">you are signed in with it</span>}
              {!isOver && caller.id !== key.id && (
                <button
                  type="button"
                  class="button small"
                  disabled={changes.isBusy}
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
          onConfirm={() =>
            void changes.run("revoke the key", async (signal) => {
              await api.send("DELETE", `${keysPath}/${encodeURIComponent(revoking.id)}`, { signal });
              if (created?.id === revoking.id) setCreated(null);
              return `The key ${revoking.name} was revoked`;
            })
          }
        />
      )}
    </>
  );
}

interface KeyEndProps {
  readonly apiKey: ApiKey;
  readonly isOver: boolean;
  readonly nowMs: number;
}

function KeyEnd({ apiKey: { revoked_at: revokedAt, expires_at: expiresAt }, isOver, nowMs }: KeyEndProps) {
  if (revokedAt !== null) return <span>revoked</span>;
  if (expiresAt === null) return <span class="fine">never expires</span>;
  const isSoon = Date.parse(expiresAt) - nowMs < soonMs;
  return (
    <span class={isOver || isSoon ? "strong" : "fine"}>
      {isOver ? "expired " : "expires "}
      <Time atMs={Date.parse(expiresAt)} nowMs={nowMs} />
    </span>
  );
}

interface KeyFormProps {
  readonly isBusy: boolean;
  readonly nowMs: () => number;
  readonly create: (key: KeyRequest) => Promise<boolean>;
}

function KeyForm({ isBusy, nowMs, create }: KeyFormProps) {
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
    <form class="row wrap fields" aria-label="Create an API key" onSubmit={(event) => void submit(event)}>
      <label class="stack grow">
        Name
        <input ref={name} name="name" autocomplete="off" maxLength={200} required placeholder="what it is for" />
      </label>
      <label class="stack">
        Expires
        <select value={String(days)} onChange={({ currentTarget }) => setDays(Number(currentTarget.value))}>
          {lifetimes.map(([value, label]) => (
            <option key={value} value={String(value)}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" class="button primary" disabled={isBusy || chosen.length === 0}>
        Create key
      </button>
      <fieldset>
        <legend>Scopes</legend>
        {scopes.map((scope) => (
          <label key={scope} class="row">
            <input
              type="checkbox"
              checked={chosen.includes(scope)}
              onChange={({ currentTarget }) =>
                setChosen(scopes.filter((each) => (each === scope ? currentTarget.checked : chosen.includes(each))))
              }
            />
            <span>
              <strong>{scope}</strong> <span class="fine">{scopeText(scope)}</span>
            </span>
          </label>
        ))}
      </fieldset>
    </form>
  );
}

/** The purpose of the scope, from the table that the gateway goes by. */
function scopeText(wanted: Scope): string {
  return Object.values(permissions)
    .filter(({ scopes: needed }) => needed.some((scope) => scope === wanted))
    .map(({ description }) => description)
    .join("; ");
}
