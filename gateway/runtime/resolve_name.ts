import { promises as dns } from "node:dns";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";

export interface ResolveOptions {
  /** Default: those of the system. */
  readonly nameServers?: readonly string[];
  /** Default: `/etc/hosts`. */
  readonly hostsFile?: string;
}

/**
 * Every address of a name, IPv4 first: where a network has no IPv6 a connection to it may take all the time there is. The name is
 * one that a tenant chose, so it is asked for in DNS directly. `dns.lookup` would hold one of the process's few threads for as long as
 * a name server is silent, and cannot be canceled; the gateway's own connections need those threads. Names of the hosts file and
 * `localhost` are known as well; search domains do not apply. Rejects when the name has no address, and as the signal says.
 */
export async function resolveName(
  host: string,
  signal: AbortSignal,
  { nameServers, hostsFile = "/etc/hosts" }: ResolveOptions = {},
): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  const name = host.toLowerCase().replace(/\.$/, "");
  const known = await addressesInFile(hostsFile, name);
  if (known.length > 0) return known;
  if (name === "localhost" || name.endsWith(".localhost")) return ["127.0.0.1", "::1"];
  signal.throwIfAborted();
  const resolver = new dns.Resolver({ timeout: timeoutMs, tries: 1 });
  if (nameServers !== undefined) resolver.setServers(nameServers);
  const cancel = () => resolver.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = [four, six].flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (found.length > 0) return found;
    signal.throwIfAborted();
    throw four.status === "rejected" ? four.reason : new Error("The name has no address");
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

/** For one attempt at one name server; Node allows twice as much before it gives up. */
const timeoutMs = 2000;

/** Without a file, or without the right to read it, there are none. */
async function addressesInFile(path: string, name: string): Promise<readonly string[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  const found = text.split("\n").flatMap((line) => {
    const [address = "", ...names] = (line.split("#")[0] ?? "").trim().split(/\s+/);
    return isIP(address) !== 0 && names.some((each) => each.toLowerCase() === name) ? [address] : [];
  });
  return found.toSorted((a, b) => isIP(a) - isIP(b));
}
