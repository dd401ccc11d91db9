/** Throws `TypeError` for what no driver could use, because Neon's own error quotes the whole URL with its password. */
export function requirePostgresUrl(url: string): void {
  const parsed = URL.parse(url);
  if (parsed !== null && /^postgres(ql)?:$/.test(parsed.protocol) && parsed.username && parsed.hostname) return;
  throw new TypeError("Cannot use the database URL: expected postgres://user:password@host/database");
}
