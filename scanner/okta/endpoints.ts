import { RateFamily, type RateWindow } from "./rate_limit.ts";
import type { ReceivedResponse } from "./http_transport.ts";

export interface FamilyWindow extends RateWindow {
  /** First word of its endpoints' paths below the API: `policies`. */
  readonly family: string;
}

/** An endpoint of the provider, and how its requests went. */
export interface Endpoint {
  readonly family: RateFamily;
  /** 429s in a row; the ones that arrive before `refusedUntilMs` count as one. */
  refusals: number;
  refusedUntilMs: number;
  /** Its 429s did not end: the last of them, given back without a request until that time; then one request is sent. */
  givenUp: { readonly response: ReceivedResponse; readonly untilMs: number } | null;
  /** Requests that failed for good since one succeeded. */
  failures: number;
}

/** The endpoints that were asked, and the families whose limits they share. */
export class Endpoints {
  readonly #families = new Map<string, RateFamily>();
  readonly #endpoints = new Map<string, Endpoint>();

  of(path: string): Endpoint {
    const { endpoint: name, family: familyName } = namesOf(path);
    const known = this.#endpoints.get(name);
    if (known !== undefined) return known;
    const family = this.#families.get(familyName) ?? new RateFamily();
    const endpoint = { family, refusals: 0, refusedUntilMs: 0, givenUp: null, failures: 0 };
    this.#families.set(familyName, family);
    this.#endpoints.set(name, endpoint);
    return endpoint;
  }

  /** The latest window of each family whose answers name one. */
  windows(): readonly FamilyWindow[] {
    return [...this.#families].flatMap(([family, { window }]) => (window === null ? [] : [{ family, ...window }]));
  }
}

/**
 * The endpoint of a path, identifiers taken out: that of `/api/v1/policies/00p1/rules` reads `policies * rules`. Its first
 * word is the family.
 */
function namesOf(path: string): { readonly endpoint: string; readonly family: string } {
  const [, ...segments] = path.split(/[?#]/, 1)[0]?.split("/") ?? [];
  const names = segments.slice(2).map((segment, index) => (index % 2 === 1 ? "*" : segment));
  // A list of policies of another type is another question: what refuses the one need not refuse the other.
  const type = /[?&]type=([^&#]*)/.exec(path)?.[1];
  return { endpoint: [...names, ...(type === undefined ? [] : [type])].join(" "), family: names[0] ?? "" };
}
