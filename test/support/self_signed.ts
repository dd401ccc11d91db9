import { execFileSync } from "node:child_process";

export type SelfSigned = ReturnType<typeof createSelfSigned>;

const options = "-x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -keyout - -out -".split(" ");

/** A certificate for these names and for 127.0.0.1 that nobody else has signed, and its private key, as PEM. */
export function createSelfSigned(...names: readonly string[]) {
  const altNames = [...names.map((name) => `DNS:${name}`), "IP:127.0.0.1"].join(",");
  const args = ["req", ...options, "-subj", "/CN=scanstream test", "-addext", `subjectAltName=${altNames}`];
  const pem = execFileSync("openssl", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const [key = "", cert = ""] = pem.split(/(?<=-----END PRIVATE KEY-----\n)/);
  return { cert, key };
}
