import { AppError } from "../../shared/app_error.ts";
import type { OpenStream } from "./open_stream.ts";

/** One tenant's streams: how many it may have, and which are open. */
export interface StreamTenant {
  readonly id: string;
  readonly streams: ReadonlySet<OpenStream>;
  add(stream: OpenStream): void;
  remove(stream: OpenStream): void;
  /** One place is free again. Once for each `StreamTenants.admit`. */
  release(): void;
}

export interface StreamTenantsOptions {
  readonly maxStreams: number;
  readonly maxStreamsPerTenant: number;
  readonly random: () => number;
  /** The tenant has its first open stream, or none any more. */
  readonly onFirst: (tenant: StreamTenant) => void;
  readonly onLast: (tenant: StreamTenant) => void;
}

/** The bounds of a process and its tenants. A place is taken before anything is waited for, so a burst cannot pass them. */
export class StreamTenants {
  readonly #options: StreamTenantsOptions;
  readonly #tenants = new Map<string, Tenant>();
  #count = 0;
  #onEmpty: (() => void) | null = null;

  constructor(options: StreamTenantsOptions) {
    this.#options = options;
  }

  /** Places taken: open streams, those being opened, and those whose last bytes have not left. */
  get count(): number {
    return this.#count;
  }

  /** Tenants that are remembered: those with a place taken. */
  get tenantCount(): number {
    return this.#tenants.size;
  }

  /** Takes a place. Throws `AppError` `unavailable` over the process's bound, `too_many` over the tenant's. */
  admit(tenantId: string): StreamTenant {
    const { maxStreams, maxStreamsPerTenant, random } = this.#options;
    // Spread, so that those who are refused together do not come back together.
    const retryAfterSeconds = 2 + Math.floor(random() * 9);
    if (this.#count >= maxStreams) {
      throw new AppError("unavailable", "This gateway has as many open streams as it may", { retryAfterSeconds });
    }
    const tenant = this.#tenants.get(tenantId) ?? new Tenant(tenantId, this.#options, () => this.#released(tenant));
    if (tenant.count >= maxStreamsPerTenant) {
      throw new AppError("too_many", `The tenant has ${maxStreamsPerTenant} open streams: no more are allowed`, {
        retryAfterSeconds,
      });
    }
    this.#tenants.set(tenantId, tenant);
    tenant.count += 1;
    this.#count += 1;
    return tenant;
  }

  *streams(): Generator<OpenStream> {
    for (const tenant of this.#tenants.values()) yield* tenant.streams;
  }

  /** Resolves when no place is taken. */
  async empty(): Promise<void> {
    if (this.#count === 0) return;
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
  }

  #released(tenant: Tenant): void {
    this.#count -= 1;
    if (tenant.count === 0) this.#tenants.delete(tenant.id);
    if (this.#count === 0) this.#onEmpty?.();
  }
}

class Tenant implements StreamTenant {
  readonly id: string;
  readonly streams = new Set<OpenStream>();
  count = 0;
  readonly #options: StreamTenantsOptions;
  readonly #onRelease: () => void;

  constructor(id: string, options: StreamTenantsOptions, onRelease: () => void) {
    this.id = id;
    this.#options = options;
    this.#onRelease = onRelease;
  }

  add(stream: OpenStream): void {
    this.streams.add(stream);
    if (this.streams.size === 1) this.#options.onFirst(this);
  }

  remove(stream: OpenStream): void {
    if (this.streams.delete(stream) && this.streams.size === 0) this.#options.onLast(this);
  }

  release(): void {
    this.count -= 1;
    this.#onRelease();
  }
}
