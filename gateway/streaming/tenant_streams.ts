import type { Limits } from "../limits.ts";
import type { OpenStream, StreamSlot } from "./open_stream.ts";

interface TenantStreamsOptions {
  readonly limits: Pick<Limits, "streams" | "unreadBytes">;
  /** The tenant's first stream was opened, its last one closed. */
  readonly onFirst: (tenant: TenantStreams) => void;
  readonly onLast: (tenant: TenantStreams) => void;
}

/** The streams of a process, by their tenants. */
export class StreamsByTenant {
  readonly #options: TenantStreamsOptions;
  readonly #tenants = new Map<string, TenantStreams>();
  #onEmpty: (() => void) | null = null;

  constructor(options: TenantStreamsOptions) {
    this.#options = options;
  }

  /** Places taken: open streams, those being opened, and those whose last bytes have not left. */
  get count(): number {
    return this.#options.limits.streams.total;
  }

  /** Takes a place, before anything is awaited. Throws as `Limit.take` does. */
  admit(tenantId: string): TenantStreams {
    this.#options.limits.streams.take(tenantId);
    const tenant =
      this.#tenants.get(tenantId) ?? new TenantStreams(tenantId, this.#options, () => this.#released(tenant));
    this.#tenants.set(tenantId, tenant);
    tenant.count += 1;
    return tenant;
  }

  *streams(): Generator<OpenStream> {
    for (const tenant of this.#tenants.values()) yield* tenant.streams;
  }

  /** Resolves when no place is taken. */
  async empty(): Promise<void> {
    if (this.count === 0) return;
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
  }

  #released(tenant: TenantStreams): void {
    this.#options.limits.streams.give(tenant.id);
    if (tenant.count === 0) this.#tenants.delete(tenant.id);
    if (this.count === 0) this.#onEmpty?.();
  }
}

/** One tenant's open streams, and how many places it has taken. */
export class TenantStreams implements StreamSlot {
  readonly id: string;
  readonly streams = new Set<OpenStream>();
  /** Changed by `StreamsByTenant` and `release` only. */
  count = 0;
  readonly #options: TenantStreamsOptions;
  readonly #onRelease: () => void;

  constructor(id: string, options: TenantStreamsOptions, onRelease: () => void) {
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

  addUnread(bytes: number): boolean {
    return this.#options.limits.unreadBytes.add(this.id, bytes);
  }

  release(): void {
    this.count -= 1;
    this.#onRelease();
  }
}
