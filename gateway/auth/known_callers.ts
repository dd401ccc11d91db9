import { networkOf } from "./client_address.ts";

export interface KnownCallersOptions {
  /** A collision-resistant digest: the credentials themselves are not stored. */
  readonly digest: (credential: string) => string;
  /** Default 10,000; the oldest make room. */
  readonly maxCallers?: number;
}

/**
 * Whose share a request takes before it is authenticated: the tenant's whose credential was valid before, and for everybody else that of
 * their address. So a client without a credential, who can invent a new one for each request, waits in turns with its own address
 * only. Nothing is allowed because of it.
 */
export class KnownCallers {
  readonly #digest: (credential: string) => string;
  readonly #maxCallers: number;
  readonly #tenants = new Map<string, string>();

  constructor({ digest, maxCallers = 10_000 }: KnownCallersOptions) {
    this.#digest = digest;
    this.#maxCallers = maxCallers;
  }

  holderOf(request: Request, address: string | null): string {
    const credential = credentialOf(request);
    const known = credential === null ? undefined : this.#tenants.get(this.#digest(credential));
    return known ?? `address:${networkOf(address ?? "")}`;
  }

  learn(request: Request, tenantId: string): void {
    const credential = credentialOf(request);
    if (credential === null) return;
    const key = this.#digest(credential);
    // Deleted first, so that it takes its place among the newest.
    this.#tenants.delete(key);
    this.#tenants.set(key, tenantId);
    if (this.#tenants.size <= this.#maxCallers) return;
    const [oldest] = this.#tenants.keys();
    if (oldest !== undefined) this.#tenants.delete(oldest);
  }
}

function credentialOf(request: Request): string | null {
  return request.headers.get("authorization") ?? new URL(request.url).searchParams.get("access_token");
}
