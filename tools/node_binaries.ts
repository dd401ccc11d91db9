import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = dirname(import.meta.dirname);

/** The Node that is inside the executables: a long-term release that `engines` allows. */
export const executableNode = "26.10.0";

/** npm's packages of Node's own builds, and the checksums by which the registry names them. */
const packages = {
  "linux-x64": "sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==",
  "linux-arm64": "sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==",
} as const;

export type Platform = keyof typeof packages;
export const platforms = Object.keys(packages) as readonly Platform[];

export interface NodeBinary {
  readonly file: string;
  readonly license: string;
}

/** Node for a platform, downloaded once; rejects where its checksum is another. */
export async function nodeBinary(platform: Platform): Promise<NodeBinary> {
  const folder = join(root, "node_modules/.cache/scanstream/node", `${executableNode}-${platform}`);
  const binary = { file: join(folder, "package/bin/node"), license: join(folder, "package/LICENSE") };
  if (await readFile(binary.license).catch(() => null)) return binary;
  const downloading = `${folder}.${process.pid}`;
  try {
    await mkdir(downloading, { recursive: true });
    const specifier = `node-${platform}@${executableNode}`;
    const { stdout } = await run("npm", ["pack", "--silent", "--ignore-scripts", specifier], { cwd: downloading });
    const tarball = join(downloading, stdout.trim());
    const checksum = `sha512-${createHash("sha512")
      .update(await readFile(tarball))
      .digest("base64")}`;
    if (checksum !== packages[platform]) {
      throw new Error(`Cannot use ${specifier}: its checksum is ${checksum}, and should be ${packages[platform]}`);
    }
    await run("tar", ["-xzf", tarball, "-C", downloading, "package/bin/node", "package/LICENSE"]);
    await rm(tarball);
    await rename(downloading, folder).catch(async (error: unknown) => {
      // Another build was faster.
      if ((await readFile(binary.license).catch(() => null)) === null) throw error;
    });
    return binary;
  } finally {
    await rm(downloading, { recursive: true, force: true });
  }
}
