import { execFile } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { copyFile, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { mutate, type Mutation } from "./mutation.ts";

/** A copy of the project's files, which may be changed. */
export interface ProjectCopy {
  readonly root: string;
  /** Makes the mistake while `work` runs. Rejects when it cannot be made. */
  whileMutated<Result>(mutation: Mutation, work: () => Promise<Result>): Promise<Result>;
  remove(): Promise<void>;
}

/** Built by `npm run build:web`, and not tracked; tests of the page read it. */
const builtPage = "dist/web";

/**
 * Copies the tracked files, and the untracked that are not ignored, as they are now. The dependencies are linked; nothing is
 * ever written to `projectRoot`.
 */
export async function copyProject(projectRoot: string): Promise<ProjectCopy> {
  const root = await mkdtemp(join(tmpdir(), "scanstream-mutations-"));
  const removeNow = () => rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  process.once("exit", removeNow);
  for (const path of await projectFiles(projectRoot)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await copyFile(join(projectRoot, path), join(root, path));
  }
  await symlink(join(projectRoot, "node_modules"), join(root, "node_modules"));
  if (existsSync(join(projectRoot, builtPage))) {
    await cp(join(projectRoot, builtPage), join(root, builtPage), { recursive: true });
  }

  return {
    root,
    async whileMutated(mutation, work) {
      const path = join(root, mutation.file);
      const source = await readFile(path, "utf8");
      await writeFile(path, mutate(source, mutation));
      try {
        return await work();
      } finally {
        await writeFile(path, source);
      }
    },
    async remove() {
      process.off("exit", removeNow);
      await rm(root, { recursive: true, force: true });
    },
  };
}

async function projectFiles(projectRoot: string): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)("git", ["ls-files", "-z", "-co", "--exclude-standard"], {
    cwd: projectRoot,
    maxBuffer: 64 * 1_048_576,
  });
  // A file that was deleted and not committed yet is still listed.
  return stdout.split("\0").filter((path) => path !== "" && existsSync(join(projectRoot, path)));
}
