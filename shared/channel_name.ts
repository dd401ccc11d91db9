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

/** Bounded, as a resource id is: the name is part of a URL and of the broker's key. */
const prefixPattern = /^[a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?$/;
/** Matches a canonical lower-case UUID. */
export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const anyCaseUuid = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi;
const resourceIdPattern = /^[A-Za-z0-9._~-]{1,200}$/;
const segments = [
  {
    name: "prefix",
    pattern: prefixPattern,
    expected: "up to 100 lower-case letters, digits and hyphens, without a hyphen at either end",
  },
  { name: "tenant id", pattern: uuidPattern, expected: "a canonical lower-case UUID" },
  { name: "resource id", pattern: resourceIdPattern, expected: "1 to 200 of A-Z a-z 0-9 . _ ~ -" },
] as const;
/** Matches a whole name; documents show it. */
export const channelNamePattern = /* @__PURE__ */ joinPatterns(prefixPattern, uuidPattern, resourceIdPattern);

/** True for a canonical lower-case UUID. */
export function isUuid(value: unknown): value is string {
  return typeof value === "string" && uuidPattern.test(value);
}

/** Writes each UUID of a text in lower case: issuers and clients may write them in upper case. */
export function lowerCaseUuids(text: string): string {
  return text.replaceAll(anyCaseUuid, (uuid) => uuid.toLowerCase());
}

/** Builds a channel name, with UUIDs in lower case, as paths are read. Throws `TypeError` for a segment that could not be parsed back. */
export function makeChannelName(prefix: string, tenantId: string, resourceId: string): string {
  const problem = problemOf([prefix, tenantId, resourceId]);
  if (problem !== null) throw new TypeError(`Cannot make a channel name: ${problem}`);
  return `${prefix}:${tenantId}:${lowerCaseUuids(resourceId)}`;
}

/** The parts of a well-formed name; `null` for anything else, regardless of its type. */
export function parseChannelName(name: unknown): ChannelName | null {
  if (typeof name !== "string" || channelNameProblem(name) !== null) return null;
  const [prefix = "", tenantId = "", resourceId = ""] = name.split(":");
  return { prefix, tenantId, resourceId };
}

/** Says what is wrong with the shape of a name; `null` for a well-formed one. */
export function channelNameProblem(name: unknown): string | null {
  if (typeof name !== "string") return `the name is ${typeof name}: expected <prefix>:<tenant_id>:<resource_id>`;
  const parts = name.split(":");
  if (parts.length === segments.length) return problemOf(parts);
  return `the name has ${parts.length} parts: expected <prefix>:<tenant_id>:<resource_id>`;
}

/** The tenant a channel belongs to; `null` for a malformed name. */
export function tenantIdFromChannel(name: unknown): string | null {
  return parseChannelName(name)?.tenantId ?? null;
}

/** True when the name is well formed and belongs to the principal's own tenant. */
export function canReadChannel(
  principal: Pick<ChannelName, "tenantId"> | null | undefined,
  name: unknown,
): name is string {
  const tenantId = tenantIdFromChannel(name);
  return tenantId !== null && tenantId === principal?.tenantId;
}

function joinPatterns(...patterns: readonly RegExp[]): string {
  return `^${patterns.map(({ source }) => source.slice(1, -1)).join(":")}$`;
}

function problemOf(parts: readonly unknown[]): string | null {
  for (const [index, { name, pattern, expected }] of segments.entries()) {
    const value = parts[index];
    if (typeof value === "string" && pattern.test(value)) continue;
    const shown = typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : typeof value;
    return `${name} ${shown} is not valid: expected ${expected}`;
  }
  return null;
}
