import { InvalidSetting } from "../environment_reader.ts";

export interface RedisEndpoint {
  readonly host: string;
  readonly port: number;
}

/** How a connection is opened at any server of the address. */
interface RedisAccess {
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

/** Throws `InvalidSetting` that never repeats the URL: it holds the password. */
export function parseRedisUrl(value: string): RedisAddress {
  // An URL has one host: a list of them is taken apart here.
  const [, scheme = "", credentials = "", hosts = "", path = ""] =
    /^([a-z+]+):\/\/(?:([^/?#]*)@)?([^@/?#]+)(?:\/([^?#]*))?(?:[?#].*)?$/i.exec(value) ?? [];
  const [, tls, suffix] = /^redis(s?)(\+sentinel)?$/i.exec(scheme) ?? [];
  if (tls === undefined) throw new InvalidSetting(`expected a URL like ${forms.single} or ${forms.sentinel}`);
  const kind = suffix === undefined ? "single" : "sentinel";
  const [, username = "", password = ""] = /^([^:]*):?(.*)$/s.exec(credentials) ?? [];
  const access = {
    ...(username !== "" && { username: decode(username, "a user") }),
    ...(password !== "" && { password: decode(password, "a password") }),
    ...(tls !== "" && { tls: {} }),
  };
  if (kind === "single") {
    const database = /^\d+$/.test(path) ? Number(path) : null;
    return { kind, endpoint: parseEndpoint(hosts, 6379, "a host and port"), access, database };
  }
  if (/[?#]/.test(value)) throw invalid("no query and no fragment");
  const endpoints = hosts.split(",").map((host) => parseEndpoint(host, 26_379, "addresses with commas between them"));
  const name = decode(path, "a name");
  if (name === "" || /[\s/]/.test(name)) throw invalid("the name of the primary after the addresses");
  return { kind, endpoints, name, access };

  function parseEndpoint(text: string, defaultPort: number, expected: string): RedisEndpoint {
    const url = URL.parse(`redis://${text}`);
    if (url === null || url.hostname === "" || url.port === "0") throw invalid(expected);
    return { host: url.hostname.replace(/^\[|\]$/g, ""), port: url.port === "" ? defaultPort : Number(url.port) };
  }

  function decode(text: string, what: string): string {
    try {
      return decodeURIComponent(text);
    } catch {
      throw invalid(`${what} that is percent-encoded`);
    }
  }

  function invalid(expected: string): InvalidSetting {
    return new InvalidSetting(`expected ${expected}, as in ${forms[kind]}`);
  }
}
