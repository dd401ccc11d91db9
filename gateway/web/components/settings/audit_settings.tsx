import type { TargetedSubmitEvent } from "preact";
import { useCallback, useState } from "preact/hooks";
import type { AuditEvent } from "../../../../shared/schemas/team.ts";
import type { Session } from "../../model/session.ts";
import { listAudit, type AuditFilter } from "../../team_wire.ts";
import { Time } from "../basics.tsx";
import { Rows } from "./parts.tsx";
import { usePages } from "./use_pages.ts";

const noFilter: AuditFilter = { action: "", actor: "" };

/** Who did what, newest first. */
export function AuditSettings({ session: { api } }: { readonly session: Session }) {
  const [filter, setFilter] = useState(noFilter);
  const pages = usePages(useCallback((request) => listAudit(api, filter, request), [api, filter]));
  const isFiltered = filter.action !== "" || filter.actor !== "";

  function submit(event: TargetedSubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => {
      const value = form.get(name);
      return typeof value === "string" ? value.trim() : "";
    };
    setFilter({ action: text("action"), actor: text("actor") });
  }

  return (
    <>
      <form
        class="settings-form"
        aria-label="Filter the audit trail"
        onSubmit={submit}
        onReset={() => setFilter(noFilter)}
      >
        <label class="field grow">
          Action
          <input
            name="action"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            placeholder="member.created"
          />
        </label>
        <label class="field grow">
          By
          <input
            name="actor"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            placeholder="a subject or a key’s id"
          />
        </label>
        <button type="submit" class="button">
          Filter
        </button>
        {isFiltered && (
          <button type="reset" class="button button-quiet">
            Show all
          </button>
        )}
      </form>
      <Rows
        pages={pages}
        label="Audit trail"
        emptyText={isFiltered ? "No matching entries." : "No entries yet."}
        row={(event) => (
          <li key={event.number} class="settings-row audit-event">
            <span class="grow">
              <span class="settings-name">
                <span class="strong">{toActor(event)}</span>
                {`: ${toWords(event.action)} `}
                <span class="strong">{toTarget(event)}</span>
              </span>
              {Object.keys(event.detail).length > 0 && (
                <details>
                  <summary>Details</summary>
                  <ul class="fine">
                    {Object.entries(event.detail).map(([name, value]) => (
                      <li key={name}>{`${name}: ${toChange(value)}`}</li>
                    ))}
                  </ul>
                </details>
              )}
            </span>
            <span class="fine">
              <Time atMs={Date.parse(event.created_at)} />
            </span>
          </li>
        )}
      />
    </>
  );
}

const actorWords = { operator: "An operator of the gateway", gateway: "The gateway" } as const;

function toActor({ actor: { kind, id, name } }: AuditEvent): string {
  if (kind === "user") return id;
  return kind === "api_key" ? `Key ${name ?? id}` : actorWords[kind];
}

/** `api_key.revoked`: "revoked the API key". */
function toWords(action: string): string {
  const [type = "", verb = ""] = action.split(".");
  return `${verb.replaceAll("_", " ")} ${type.replaceAll("_", " ").replace(/^api\b/, "API")}`;
}

function toTarget({ target: { id, name }, detail }: AuditEvent): string {
  const given = detail["name"];
  return name ?? (typeof given === "string" ? given : id);
}

function toChange(value: unknown): string {
  if (typeof value === "object" && value !== null && "from" in value && "to" in value) {
    return `${toText(value.from)} → ${toText(value.to)}`;
  }
  return toText(value);
}

function toText(value: unknown): string {
  if (value === null || value === undefined || value === "") return "none";
  if (Array.isArray(value)) return value.map(toText).join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
}
