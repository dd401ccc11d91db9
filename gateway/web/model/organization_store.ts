import { pause } from "../../../shared/abortable.ts";
import { listOrganizations, type Organization } from "../organization_wire.ts";
import { isEnded } from "../scan_wire.ts";
import type { Api } from "./api.ts";
import { toProblem } from "./connection.ts";
import type { TenantFollower } from "./tenant_follower.ts";

/** The tenant's organizations, as they were read last. */
export interface OrganizationStore {
  /** Null: not read yet. */
  readonly items: readonly Organization[] | null;
  /** Why they could not be read, or not read again. */
  readonly problem: string | null;
  /** Reads them; of many requests at once the first and the last cause a reading. */
  request(): void;
  close(): void;
}

const pageLimit = 200;
/** As many organizations as a tenant can follow at a time. */
const maxPages = 10;
const pauseMs = 1000;

export function createOrganizationStore(api: Api, onChange: () => void): OrganizationStore {
  const closing = new AbortController();
  const { signal } = closing;
  let items: readonly Organization[] | null = null;
  let problem: string | null = null;
  let isDue = false;
  let isReading = false;

  async function read(): Promise<void> {
    isReading = true;
    while (isDue && !signal.aborted) {
      isDue = false;
      try {
        items = await listAll(api, signal);
        problem = null;
      } catch (error) {
        problem = toProblem(error);
      }
      if (!signal.aborted) onChange();
      await pause(pauseMs, [signal]);
    }
    isReading = false;
  }

  return {
    get items() {
      return items;
    },
    get problem() {
      return problem;
    },
    request() {
      isDue = true;
      if (!isReading) void read();
    },
    close: () => closing.abort(),
  };
}

/** Another text when organizations may have changed: a stream opened, a scan ended, the counts of a monitor moved. */
export function versionOf({ scans, monitors, connection }: TenantFollower): string {
  const ended = scans.items.filter(({ status }) => isEnded(status)).map(({ id }) => id);
  const counts = monitors.items.map(({ id, status, pass, fail, manual }) => [id, status, pass, fail, manual].join());
  return [connection.refetchedAtMs, ended.length, ended[0], ...counts].join(" ");
}

async function listAll(api: Api, signal: AbortSignal): Promise<readonly Organization[]> {
  const found: Organization[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < maxPages; pages += 1) {
    const page = await listOrganizations(api, { limit: pageLimit, cursor, signal });
    found.push(...page.items);
    cursor = page.nextCursor;
    if (cursor === null) break;
  }
  return found;
}
