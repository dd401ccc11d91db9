import { useCallback, useState } from "preact/hooks";
import {
  apiKeySchema,
  createdApiKeySchema,
  scopeSchema,
  type ApiKey,
  type CreatedApiKey,
  type Scope,
} from "../../../../shared/schemas/team.ts";
import { permissions } from "../../../auth/permissions.ts";
import { dayMs, isolated } from "../../model/format.ts";
import { mayDo, type Session } from "../../model/session.ts";
import { Button, ConfirmButton, CopyButton, Time } from "../basics.tsx";
import { AddForm, EditedList, useEditedList } from "./edited_list.tsx";

const keysPath = "api/v1/api-keys";
const scopes: readonly Scope[] = scopeSchema.options;
const lifetimes = [
  ["30", "in 30 days"],
  ["90", "in 90 days"],
  ["365", "in a year"],
  ["0", "never"],
] as const;

/** The credentials of programs. */
export function Keys({ session: { api, caller } }: { readonly session: Session }) {
  const list = useEditedList(useCallback((signal) => api.list(keysPath, apiKeySchema, { signal }), [api]));
  const { isBusy, run } = list;
  const [created, setCreated] = useState<CreatedApiKey | null>(null);
  const [chosen, setChosen] = useState<readonly Scope[]>(scopes.filter((scope) => scope !== "admin"));
  const [days, setDays] = useState<string>("90");
  const nowMs = api.nowMs();

  const create = (name: string) =>
    run("create the key", async (signal) => {
      const expires_at = days === "0" ? null : new Date(api.nowMs() + Number(days) * dayMs).toISOString();
      const body = { name, scopes: chosen, expires_at };
      setCreated(await api.ask("POST", keysPath, createdApiKeySchema, { signal, body }));
      return `The key ${isolated(name)} was created`;
    });

  const revoke = ({ id, name }: ApiKey) =>
    run("revoke the key", async (signal) => {
      await api.send("DELETE", `${keysPath}/${encodeURIComponent(id)}`, { signal });
      if (created?.id === id) setCreated(null);
      return `The key ${isolated(name)} was revoked`;
    });

  return (
    <>
      {mayDo(caller, "appoint") && (
        <AddForm
          label="Create an API key"
          field={{ label: "Name", maxLength: 200, placeholder: "what it is for" }}
          button="Create key"
          isDisabled={isBusy || chosen.length === 0}
          add={create}
          choice={
            <label class="stack">
              Expires
              <select value={days} onChange={({ currentTarget }) => setDays(currentTarget.value)}>
                {lifetimes.map(([value, label]) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </select>
            </label>
          }
        >
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
        </AddForm>
      )}
      {created !== null && (
        <div class="notice row wrap" role="group" aria-label={`The key ${created.name}`}>
          <strong>Copy the key now: it is not shown again.</strong>
          <input class="credential grow" readOnly value={created.api_key} aria-label={`API key ${created.name}`} />
          <CopyButton label="Copy" getText={() => created.api_key} />
          <Button look="small" label="Done" onClick={() => setCreated(null)} />
        </div>
      )}
      <EditedList
        label="API keys"
        list={list}
        emptyText="No API keys yet. A scanner needs one to report here."
        row={(key) => {
          const { id, name, prefix, last_used_at: usedAt } = key;
          const end = endOf(key, nowMs);
          return (
            <li key={id} class={`row wrap${end.isOver ? " fine" : ""}`}>
              <span class="grow">
                <strong>{name}</strong>
                <span class="fine">
                  {` ${prefix}… · ${key.scopes.join(", ")} · ${usedAt === null ? "never used" : "last used "}`}
                  {usedAt !== null && <Time atMs={Date.parse(usedAt)} nowMs={nowMs} />}
                </span>
              </span>
              <span class={end.isSoon ? "strong" : "fine"}>
                {end.words}
                {end.atMs !== null && <Time atMs={end.atMs} nowMs={nowMs} />}
              </span>
              {!end.isOver && caller.id === id && <span class="fine">you are signed in with it</span>}
              {!end.isOver && caller.id !== id && (
                <ConfirmButton
                  label="Revoke"
                  disabled={isBusy}
                  aria-label={`Revoke ${name} (${prefix})`}
                  title={`Revoke ${name}?`}
                  text={`The key ${prefix}… stops working at once and for good; its streams close within 30 seconds.`}
                  confirm="Revoke"
                  onConfirm={() => void revoke(key)}
                />
              )}
            </li>
          );
        }}
      />
    </>
  );
}

/** When the key stops, or stopped, working. */
function endOf({ revoked_at: revokedAt, expires_at: expiresAt }: ApiKey, nowMs: number) {
  if (revokedAt !== null) return { isOver: true, isSoon: false, words: "revoked", atMs: null };
  if (expiresAt === null) return { isOver: false, isSoon: false, words: "never expires", atMs: null };
  const atMs = Date.parse(expiresAt);
  const isOver = atMs <= nowMs;
  return { isOver, isSoon: atMs - nowMs < 14 * dayMs, words: isOver ? "expired " : "expires ", atMs };
}

/** The purpose of the scope, from the table that the gateway goes by. */
function scopeText(wanted: Scope): string {
  return Object.values(permissions)
    .filter(({ scopes: needed }) => needed.some((scope) => scope === wanted))
    .map(({ description }) => description)
    .join("; ");
}
