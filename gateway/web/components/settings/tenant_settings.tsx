import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../../model/api.ts";
import { readExport, readTenant, removeTenant, renameTenant, type Tenant } from "../../model/tenant_settings.ts";
import { saveFile } from "../../model/report_files.ts";
import type { Session } from "../../model/session.ts";
import { formatTime } from "../../model/format.ts";

type Run = (what: string, work: (signal: AbortSignal) => Promise<string | null>) => Promise<void>;

/** The tenant as a whole: its name, how long it keeps what has ended, its export and its end. */
export function TenantSettings({ session: { api } }: { readonly session: Session }) {
  const [tenant, setTenant] = useState<Tenant | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [done, setDone] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [closing] = useState(() => new AbortController());
  const { signal } = closing;

  const run: Run = async (what, work) => {
    setBusy(true);
    setProblem(null);
    setDone(null);
    try {
      setDone(await work(signal));
    } catch (error) {
      if (signal.aborted) return;
      setProblem(`${what}: ${error instanceof ApiError ? error.message : "the answer could not be read"}`);
    }
    setBusy(false);
  };

  useEffect(() => {
    void run("The tenant could not be read", async (signal) => {
      setTenant(await readTenant(api, signal));
      return null;
    });
    return () => closing.abort();
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- once for each session
  }, [api]);

  return (
    <>
      <p class="problem tinted tone-fail" role="alert">
        {problem}
      </p>
      <p role="status">{done}</p>
      {tenant !== null && (
        <>
          <dl class="facts">
            <div>
              <dt class="fine">Id</dt>
              <dd>{tenant.id}</dd>
            </div>
            <div>
              <dt class="fine">Since</dt>
              <dd>{formatTime(tenant.createdAtMs)}</dd>
            </div>
            <div>
              <dt class="fine">Ended scans and monitors</dt>
              <dd>
                {tenant.retentionDays === null
                  ? "are kept until somebody deletes them"
                  : `are deleted ${tenant.retentionDays} days after their end (RETENTION_DAYS)`}
              </dd>
            </div>
          </dl>
          <form
            class="stack"
            onSubmit={(event) => {
              event.preventDefault();
              const name = String(new FormData(event.currentTarget).get("name") ?? "");
              void run("The tenant was not renamed", async (signal) => {
                setTenant(await renameTenant(api, name, signal));
                return "Renamed.";
              });
            }}
          >
            <label class="stack">
              <span class="strong">Name</span>
              <input
                class="credential"
                name="name"
                required
                maxLength={200}
                defaultValue={tenant.name}
                autocomplete="off"
              />
            </label>
            <button type="submit" class="button" disabled={isBusy}>
              Rename
            </button>
          </form>
          <div class="stack">
            <p>
              The export has members, scans, findings, reports, monitors and decisions; no keys and no audit trail.{" "}
              <code>scanstream admin tenant import</code> takes it into another gateway.
            </p>
            <button
              type="button"
              class="button"
              disabled={isBusy}
              onClick={() =>
                void run("The tenant was not exported", async (signal) => {
                  saveFile(await readExport(api, tenant.id, signal));
                  return "Exported.";
                })
              }
            >
              Export
            </button>
          </div>
          <form
            class="stack"
            onSubmit={(event) => {
              event.preventDefault();
              const name = String(new FormData(event.currentTarget).get("confirm") ?? "");
              void run("The tenant was not deleted", async (signal) => {
                await removeTenant(api, name, signal);
                // Nothing that this session knows is there any more.
                location.replace(document.baseURI);
                return "Deleted.";
              });
            }}
          >
            <label class="stack">
              <span class="strong">Delete the tenant with everything that it has</span>
              <span class="fine">Nothing brings it back. Write its name to confirm it.</span>
              <input class="credential" name="confirm" required autocomplete="off" placeholder={tenant.name} />
            </label>
            <button type="submit" class="button inked tone-fail" disabled={isBusy}>
              Delete for good
            </button>
          </form>
        </>
      )}
    </>
  );
}
