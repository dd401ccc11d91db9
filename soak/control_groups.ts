import { mkdir, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A control group of the kernel: what processes in it may use together. */
export interface ControlGroup {
  add(pid: number): Promise<void>;
  /** Only once its processes have ended; this one leaves it. */
  remove(): Promise<void>;
}

export interface ControlGroupBounds {
  readonly memoryBytes?: number;
  /** Its part of the processor beside that of other groups, 100 for most. Nice values alone bind only within a session (`sched_autogroup`). */
  readonly weight: number;
}

const root = "/sys/fs/cgroup";

/** Of either version; null where this user may make none. https://docs.kernel.org/admin-guide/cgroup-v2.html */
export async function createControlGroup(
  name: string,
  { memoryBytes, weight }: ControlGroupBounds,
): Promise<ControlGroup | null> {
  const memory = memoryBytes === undefined ? {} : { "memory.max": memoryBytes };
  const versions = [
    [
      { folder: join(root, "cpu", name), files: { "cpu.shares": Math.round((weight * 1024) / 100) } },
      ...(memoryBytes === undefined
        ? []
        : [{ folder: join(root, "memory", name), files: { "memory.limit_in_bytes": memoryBytes } }]),
    ],
    [{ folder: join(root, name), files: { "cpu.weight": weight, ...memory } }],
  ];
  for (const folders of versions) {
    const remove = async () => {
      for (const { folder } of folders) await rmdir(folder).catch(() => undefined);
    };
    try {
      for (const { folder, files } of folders) {
        await mkdir(folder);
        for (const [file, value] of Object.entries(files)) await writeFile(join(folder, file), String(value));
      }
    } catch {
      await remove();
      continue;
    }
    let holdsThisProcess = false;
    return {
      async add(pid) {
        holdsThisProcess ||= pid === process.pid;
        for (const { folder } of folders) await writeFile(join(folder, "cgroup.procs"), String(pid));
      },
      async remove() {
        for (const { folder } of holdsThisProcess ? folders : []) {
          await writeFile(join(folder, "../cgroup.procs"), String(process.pid));
        }
        await remove();
      },
    };
  }
  return null;
}
