/**
 * Channel names: `<prefix>:<tenant_id>:<resource_id>`.
 *
 * The tenant id is part of every name, so the tenant gate is one parse. Names are built only by `makeChannelName`.
 */
export interface ChannelName {
  /** The feature that owns the channel. */
  readonly prefix: string;
  /** A canonical lower-case UUID. */
  readonly tenantId: string;
  readonly resourceId: string;
}

/** What a principal must be known by before it may read a channel. */
export interface ChannelReader {
  readonly tenantId: string;
}

const prefixPattern = /^[a-z0-9][a-z0-9-]*$/;
/** For a canonical lower-case UUID. */
export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const resourceIdPattern = /^[A-Za-z0-9._~-]+$/;
/** For a whole name, for documents. */
export const channelNamePattern = /* @__PURE__ */ joinPatterns(prefixPattern, uuidPattern, resourceIdPattern);

/** True for a canonical lower-case UUID. */
export function isUuid(value: unknown): value is string {
  return typeof value === "string" && uuidPattern.test(value);
}

/** Builds a channel name. Throws `TypeError` for a segment that could not be parsed back. */
export function makeChannelName(prefix: string, tenantId: string, resourceId: string): string {
  requireSegment("prefix", prefix, prefixPattern, "lower-case letters, digits and hyphens, not starting with a hyphen");
  requireSegment("tenant id", tenantId, uuidPattern, "a canonical lower-case UUID");
  requireSegment("resource id", resourceId, resourceIdPattern, "one or more of A-Z a-z 0-9 . _ ~ -");
  return `${prefix}:${tenantId}:${resourceId}`;
}

/** The parts of a well-formed name; `null` for anything else, regardless of its type. */
export function parseChannelName(name: unknown): ChannelName | null {
  if (typeof name !== "string") return null;
  const [prefix, tenantId, resourceId, ...rest] = name.split(":", 4);
  if (prefix === undefined || tenantId === undefined || resourceId === undefined || rest.length > 0) return null;
  if (!prefixPattern.test(prefix) || !uuidPattern.test(tenantId) || !resourceIdPattern.test(resourceId)) return null;
  return { prefix, tenantId, resourceId };
}

/** The tenant a channel belongs to; `null` for a malformed name. */
export function tenantIdFromChannel(name: unknown): string | null {
  return parseChannelName(name)?.tenantId ?? null;
}

/** True when the name is well formed and belongs to the principal's own tenant. */
export function canReadChannel(principal: ChannelReader | null | undefined, name: unknown): boolean {
  const tenantId = tenantIdFromChannel(name);
  return tenantId !== null && tenantId === principal?.tenantId;
}

/** Always false: nothing is replayed, so a client refetches state after every open. */
export function isChannelReliable(_name: string): false {
  return false;
}

function joinPatterns(...patterns: readonly RegExp[]): string {
  return `^${patterns.map(({ source }) => source.slice(1, -1)).join(":")}$`;
}

function requireSegment(segment: string, value: unknown, pattern: RegExp, expected: string): void {
  if (typeof value === "string" && pattern.test(value)) return;
  const shown = typeof value === "string" ? JSON.stringify(value) : typeof value;
  throw new TypeError(`Cannot make a channel name: ${segment} ${shown} is not valid: expected ${expected}`);
}
