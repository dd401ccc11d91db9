import { countOf } from "../../../shared/outcome_text.ts";
import { listOrganizations, type Organization } from "../organization_wire.ts";
import type { Api } from "./api.ts";

/** The tenant's organizations, which overview and title share. */
export interface OrganizationStore {
  /** Null: not read yet. */
  readonly items: readonly Organization[] | null;
  /** What is left out. */
  readonly problem: string | null;
}

/** The side that the tenant's stream writes. */
export interface LiveOrganizations extends OrganizationStore {
  /** What is there when the stream opens. */
  replace(organizations: readonly Organization[]): void;
  /** Reads all, where a snapshot does not hold them. Rejects as `Api` does. */
  read(signal: AbortSignal): Promise<void>;
  put(organization: Organization): void;
  remove(id: unknown): void;
}

const pageLimit = 200;
/** More are left out, and the page says so. */
const maxPages = 10;

export function createOrganizationStore(api: Api, onChange: () => void): LiveOrganizations {
  let known: ReadonlyMap<unknown, Organization> = new Map();
  let items: readonly Organization[] | null = null;
  let problem: string | null = null;
  /** Counts what the stream says; by id, when it spoke of one last. */
  let now = 0;
  const saidAt = new Map<unknown, number>();
  let begun = 0;
  let finished = 0;

  function show(next: readonly Organization[]): void {
    known = new Map(next.map((organization) => [organization.id, organization]));
    items = next;
    onChange();
  }

  async function read(signal: AbortSignal): Promise<void> {
    const since = now;
    const number = (begun += 1);
    const { found, isCut } = await listAll(api, signal);
    if (number < finished) return;
    finished = number;
    problem = isCut ? `Only the newest ${countOf(found.length, "organization")} are shown` : null;
    const isNewer = (id: unknown) => (saidAt.get(id) ?? 0) > since;
    // What the stream said in the meantime may be newer, a deletion included.
    const newer = [...known.values()].filter(({ id }) => isNewer(id));
    show([...newer, ...found.filter(({ id }) => !isNewer(id))]);
  }

  return {
    get items() {
      return items;
    },
    get problem() {
      return problem;
    },
    replace(organizations) {
      now += 1;
      for (const { id } of organizations) saidAt.set(id, now);
      show(organizations);
    },
    read,
    put(organization) {
      now += 1;
      saidAt.set(organization.id, now);
      if (items !== null) show([organization, ...items.filter(({ id }) => id !== organization.id)]);
    },
    remove(id) {
      now += 1;
      saidAt.set(id, now);
      if (items !== null) show(items.filter((one) => one.id !== id));
    },
  };
}

async function listAll(api: Api, signal: AbortSignal) {
  const found: Organization[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < maxPages; pages += 1) {
    const page = await listOrganizations(api, { limit: pageLimit, cursor, signal });
    found.push(...page.items);
    cursor = page.nextCursor;
    if (cursor === null) break;
  }
  return { found, isCut: cursor !== null };
}
