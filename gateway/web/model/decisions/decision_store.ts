import {
  decisionSchema,
  type AttestedStatus,
  type Decision,
  type DecisionKind,
} from "../../../../shared/schemas/decision.ts";
import { parse, parsePage, type Page } from "../../scan_wire.ts";
import type { Api } from "../api.ts";
import { toProblem } from "../connection.ts";

/** The decisions of the tenant that hold, kept true while a part of the page shows them. */
export interface DecisionStore {
  /** Newest first; another array after each change. */
  readonly items: readonly Decision[];
  /** Until then a finding without a decision may have one. */
  readonly isRead: boolean;
  /** Why they could not be read. */
  readonly problem: string | null;
  /** Rises with each change of any decision. */
  readonly version: number;
  /** Reads them where that is needed, and after each change, until the function that it returns is called. */
  use(): () => void;
  /** What is known may be old: the stream was interrupted, or a scan may have ended one. */
  invalidate(): void;
  /** A decision was made or ended. */
  put(decision: Decision): void;
}

/** What a person fills in. */
export interface NewDecision {
  readonly kind: DecisionKind;
  readonly check: string;
  readonly resource?: string;
  readonly status?: AttestedStatus;
  readonly reason: string;
  /** A day, or `never`. */
  readonly expires: string;
  readonly org_url: string | null;
}

export interface DecisionsQuery {
  readonly active?: boolean;
  readonly kind?: DecisionKind;
  readonly cursor?: string | null;
}

const pageSize = 200;
/** Beyond these a finding may be waived without its badge; the list has them all. */
const maxPages = 25;
const path = "api/v1/decisions";

export function createDecisionStore(api: Api, onChange: () => void, signal: AbortSignal): DecisionStore {
  let items: readonly Decision[] = [];
  let version = 0;
  let isRead = false;
  let problem: string | null = null;
  let users = 0;
  let isOld = true;
  let isReading = false;

  async function read(): Promise<void> {
    if (users === 0 || !isOld || isReading) return;
    isReading = true;
    isOld = false;
    try {
      const before = version;
      const found = await listActive(api, signal);
      // What changed in the meantime may or may not be among them.
      if (version !== before) isOld = true;
      else {
        isRead = true;
        problem = null;
        set(found);
      }
    } catch (error) {
      if (signal.aborted) return;
      // The next change, the next open of the stream, or the person reads them again.
      isOld = true;
      problem = toProblem(error);
      onChange();
      return;
    } finally {
      isReading = false;
    }
    await read();
  }

  function set(next: readonly Decision[]): void {
    items = next;
    version += 1;
    onChange();
  }

  return {
    get items() {
      return items;
    },
    get isRead() {
      return isRead;
    },
    get problem() {
      return problem;
    },
    get version() {
      return version;
    },
    use() {
      users += 1;
      void read();
      return () => {
        users -= 1;
      };
    },
    invalidate() {
      isOld = true;
      void read();
    },
    put(decision) {
      const others = items.filter(({ id }) => id !== decision.id);
      set(decision.state === "active" ? [decision, ...others] : others);
    },
  };
}

async function listActive(api: Api, signal: AbortSignal): Promise<readonly Decision[]> {
  const found: Decision[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < maxPages; pages += 1) {
    const page: Page<Decision> = await listDecisions(api, { active: true, cursor }, signal);
    found.push(...page.items);
    cursor = page.nextCursor;
    if (cursor === null) break;
  }
  return found;
}

/** Newest first. Rejects with `ApiError`, or the signal's reason. */
export async function listDecisions(
  api: Api,
  { active, kind, cursor = null }: DecisionsQuery,
  signal: AbortSignal,
): Promise<Page<Decision>> {
  const query = new URLSearchParams({
    limit: String(pageSize),
    ...(active === undefined ? {} : { active: String(active) }),
    ...(kind === undefined ? {} : { kind }),
    ...(cursor === null ? {} : { cursor }),
  });
  return parsePage(await api.request("GET", `${path}?${query}`, { signal }), parseDecision);
}

/** Rejects with `ApiError`, or the signal's reason. */
export async function createDecision(api: Api, body: NewDecision, signal: AbortSignal): Promise<Decision> {
  return parseDecision(await api.request("POST", path, { signal, body }));
}

/** Rejects with `ApiError`, or the signal's reason. */
export async function withdrawDecision(api: Api, { id }: Pick<Decision, "id">, signal: AbortSignal): Promise<void> {
  await api.request("DELETE", `${path}/${encodeURIComponent(id)}`, { signal });
}

/** Throws `TypeError` for an answer that is not the gateway's. */
export function parseDecision(value: unknown): Decision {
  return parse(decisionSchema, value, "a decision");
}
