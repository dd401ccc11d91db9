import type { TargetedSubmitEvent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { formatTime } from "../../model/format.ts";
import { saveFile } from "../../model/report_files.ts";
import type { Session } from "../../model/session.ts";
import { readExport, readTenant, removeTenant, renameTenant, type Tenant } from "../../model/tenant_settings.ts";
import { Outcome } from "./parts.tsx";
import { Fact } from "./session_settings.tsx";
import { useAction } from "./use_action.ts";

/** The tenant as a whole: its name, how long it keeps what has ended, its export and its end. */
export function TenantSettings({ session: { api } }: { readonly session: Session }) {
  const [tenant, setTenant] = useState<Tenant | null>(null);
  const action = useAction();
  const { isBusy } = action;

  useEffect(() => {
    void action.run("read the tenant", async (signal) => {
      setTenant(await readTenant(api, signal));
      return "";
    });
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- once for each session
  }, [api]);

  function rename(event: TargetedSubmitEvent<HTMLFormElement>): void {
    const name = submitted(event);
    void action.run("rename the tenant", async (signal) => {
      setTenant(await renameTenant(api, name, signal));
      return "Renamed.";
    });
  }

  function exportAll({ id }: Tenant): void {
    void action.run("export the tenant", async (signal) => {
      saveFile(await readExport(api, id, signal));
      return "Exported.";
    });
  }

  function remove(event: TargetedSubmitEvent<HTMLFormElement>): void {
    const name = submitted(event);
    void action.run("delete the tenant", async (signal) => {
      await removeTenant(api, name, signal);
      // Nothing that this session knows is there any more.
      location.replace(document.baseURI);
      return "Deleted.";
    });
  }

  return (
    <>
      {tenant !== null && (
        <>
          <form class="settings-form" aria-label="Rename the tenant" onSubmit={rename}>
            <label class="field grow">
              Name
              <input name="name" required maxLength={200} defaultValue={tenant.name} autocomplete="off" />
            </label>
            <button type="submit" class="button button-primary" disabled={isBusy}>
              Rename
            </button>
          </form>
          <div class="settings-row">
            <dl class="facts grow">
              <Fact name="Id" value={tenant.id} />
              <Fact name="Created" value={formatTime(tenant.createdAtMs)} />
              <Fact name="Scans and monitors that have ended" value={toRetention(tenant)} />
            </dl>
          </div>
          <div class="settings-row">
            <p class="grow">
              <span class="strong">Export</span>
              <span class="fine">
                Members, scans, findings, reports, monitors and decisions, for <code>admin tenant import</code> at
                another gateway. No keys, no secrets, no audit trail.
              </span>
            </p>
            <button type="button" class="button" disabled={isBusy} onClick={() => exportAll(tenant)}>
              Export
            </button>
          </div>
          <form class="settings-row" aria-label="Delete the tenant" onSubmit={remove}>
            <label class="field grow">
              Delete the tenant and everything in it. To confirm, type its name
              <input name="name" required autocomplete="off" placeholder={tenant.name} />
            </label>
            <button type="submit" class="button inked tone-fail" disabled={isBusy}>
              Delete for good
            </button>
          </form>
        </>
      )}
      <Outcome action={action} />
    </>
  );
}

function submitted(event: TargetedSubmitEvent<HTMLFormElement>): string {
  event.preventDefault();
  const name = new FormData(event.currentTarget).get("name");
  return typeof name === "string" ? name : "";
}

function toRetention({ retentionDays }: Tenant): string {
  if (retentionDays === null) return "are kept until somebody deletes them";
  return `are deleted ${retentionDays} days after their end (RETENTION_DAYS)`;
}
