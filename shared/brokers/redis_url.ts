import { InvalidSetting } from "../environment_reader.ts";

export interface RedisEndpoint {
  readonly host: string;
  readonly port: number;
}

/** How a connection is opened at any server of the address. */
export interface RedisAccess {
  readonly username?: string;
  readonly password?: string;
  readonly tls?: Record<string, never>;
}

/** Content of `REDIS_URL`: one server, or sentinels to ask for the primary. */
export type RedisAddress = { readonly access: RedisAccess } & (
  | { readonly kind: "single"; readonly endpoint: RedisEndpoint; readonly database: number | null }
  | { readonly kind: "sentinel"; readonly endpoints: readonly RedisEndpoint[]; readonly name: string }
);

const forms = {
  single: "redis://host:6379",
  sentinel: "redis+sentinel://host:26379,host:26379/name",
} as const;

type Kind = keyof typeof forms;

/** Throws `InvalidSetting` that never repeats the URL: it holds the password. */
export function parseRedisUrl(value: string): RedisAddress {
  // An URL has one host: a list of them is taken apart here.
  const [, tls, kind = "single", credentials, hosts = "", path = ""] =
    /^redis(s?)(?:\+(sentinel))?:\/\/(?:([^/?#]*)@)?([^@/?#]+)(?:\/([^?#]*))?(?:[?#].*)?$/.exec(
      value.replace(/^[a-z+]+:/i, (scheme) => scheme.toLowerCase()),
    ) ?? [];
  if (tls === undefined || !isKind(kind)) {
    throw new InvalidSetting(`expected a URL like ${forms.single} or ${forms.sentinel}`);
  }
  const access = { ...parseCredentials(kind, credentials), ...(tls === "" ? {} : { tls: {} }) };
  if (kind === "single") {
    const database = /^\d+$/.test(path) ? Number(path) : null;
    return { kind, endpoint: parseEndpoint(kind, hosts), access, database };
  }
  if (/[?#]/.test(value)) throw invalid(kind, "no query and no fragment");
  const endpoints = hosts.split(",").map((host) => parseEndpoint(kind, host));
  return { kind, endpoints, name: parseName(path), access };
}

function isKind(text: string): text is Kind {
  return text in forms;
}

function parseEndpoint(kind: Kind, text: string): RedisEndpoint {
  const url = URL.canParse(`redis://${text}`) ? new URL(`redis://${text}`) : null;
  if (url === null || url.hostname === "" || url.port === "0") {
    throw invalid(kind, kind === "single" ? "a host and port" : "addresses with commas between them");
  }
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? (kind === "sentinel" ? 26_379 : 6379) : Number(url.port),
  };
}

function parseCredentials(kind: Kind, text = ""): RedisAccess {
  const colon = text.indexOf(":");
  const [username, password] = colon === -1 ? [text, ""] : [text.slice(0, colon), text.slice(colon + 1)];
  return {
    ...(username === "" ? {} : { username: decode(kind, username, "a user") }),
    ...(password === "" ? {} : { password: decode(kind, password, "a password") }),
  };
}

function parseName(path: string): string {
  const name = decode("sentinel", path, "a name");
  if (name === "" || /[\s/]/.test(name)) throw invalid("sentinel", "the name of the primary after the addresses");
  return name;
}

function decode(kind: Kind, text: string, what: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid(kind, `${what} that is percent-encoded`);
  }
}

function invalid(kind: Kind, expected: string): InvalidSetting {
  return new InvalidSetting(`expected ${expected}, as in ${forms[kind]}`);
}
