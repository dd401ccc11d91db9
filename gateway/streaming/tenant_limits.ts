import { AppError } from "../../shared/app_error.ts";
import type { OpenStream, StreamSlot } from "./open_stream.ts";

export interface TenantLimitsOptions {
  readonly maxStreams: number;
  readonly maxStreamsPerTenant: number;
  readonly random: () => number;
  /** The tenant's first stream was opened, its last one closed. */
  readonly onFirst: (tenant: TenantStreams) => void;
  readonly onLast: (tenant: TenantStreams) => void;
}

/** The stream limits of a process and of each tenant. A slot is taken before anything is awaited, so a burst cannot pass them. */
export class TenantLimits {
  readonly #options: TenantLimitsOptions;
  readonly #tenants = new Map<string, TenantStreams>();
  #count = 0;
  #onEmpty: (() => void) | null = null;

  constructor(options: TenantLimitsOptions) {
    this.#options = options;
  }

  /** Slots taken: open streams, those being opened, and those whose last bytes have not left. */
  get count(): number {
    return this.#count;
  }

  /** Takes a slot. Throws `AppError` `unavailable` over the process's limit, `too_many` over the tenant's. */
  admit(tenantId: string): TenantStreams {
    const { maxStreams, maxStreamsPerTenant, random } = this.#options;
    // Spread, so that clients that are refused together do not retry together.
    const retryAfterSeconds = 2 + Math.floor(random() * 9);
    if (this.#count >= maxStreams) {
      throw new AppError("unavailable", `The gateway's limit of ${maxStreams} open streams is reached`, {
        retryAfterSeconds,
      });
    }
    const tenant =
      this.#tenants.get(tenantId) ?? new TenantStreams(tenantId, this.#options, () => this.#released(tenant));
    if (tenant.count >= maxStreamsPerTenant) {
      throw new AppError("too_many", `The tenant's limit of ${maxStreamsPerTenant} open streams is reached`, {
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

  /** Resolves when no slot is taken. */
  async empty(): Promise<void> {
    if (this.#count === 0) return;
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
  }

  #released(tenant: TenantStreams): void {
    this.#count -= 1;
    if (tenant.count === 0) this.#tenants.delete(tenant.id);
    if (this.#count === 0) this.#onEmpty?.();
  }
}

/** One tenant's open streams, and how many slots it has taken. */
export class TenantStreams implements StreamSlot {
  readonly id: string;
  readonly streams = new Set<OpenStream>();
  /** Changed by `TenantLimits` and `release` only. */
  count = 0;
  readonly #options: Pick<TenantLimitsOptions, "onFirst" | "onLast">;
  readonly #onRelease: () => void;

  constructor(id: string, options: Pick<TenantLimitsOptions, "onFirst" | "onLast">, onRelease: () => void) {
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
