import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { requireWritable, writeWhole } from "../../command_line/files.ts";
import { ownFolder } from "../support/clean_up.ts";

test("writeWhole keeps a file that others may not read as it is", async () => {
  const folder = await ownFolder();
  const path = join(folder, "artifacts.json");
  await writeFile(path, "old");
  await chmod(path, 0o600);
  expect(await writeWhole({ option: "--save-artifacts", file: path }, "new")).toBeNull();
  expect(await readFile(path, "utf8")).toBe("new");
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(["artifacts.json"]);
});

test.each([
  ["to a file", "old"],
  ["to nothing yet", null],
])("writeWhole writes through a link %s", async (_, content) => {
  const folder = await ownFolder();
  const [target, path] = [join(folder, "target"), join(folder, "link")];
  if (content !== null) await writeFile(target, content);
  await symlink(target, path);
  await requireWritable({ file: { option: "--save-artifacts", file: path } });
  expect(await writeWhole({ option: "--save-artifacts", file: path }, "new")).toBeNull();
  expect(await readFile(target, "utf8")).toBe("new");
  expect((await lstat(path)).isSymbolicLink()).toBe(true);
});

test("requireWritable names every place that cannot be written, and leaves what is there", async () => {
  const folder = await ownFolder();
  const directory = join(folder, "reports");
  await mkdir(join(directory, "scan.json"), { recursive: true });
  await writeFile(join(directory, "scan.csv"), "old");
  const fileNames = ["scan.json", "scan.csv", "scan.txt"];
  const file = { option: "--save-artifacts", file: join(folder, "none/a.json") };
  const place = { option: "--output", file: directory };
  await expect(requireWritable({ directory: place, fileNames, file })).rejects.toThrow(
    /^Cannot write --output ".*scan\.json": it is a directory.*\nCannot write --save-artifacts ".*": the directory does not exist$/,
  );
  expect(await readFile(join(directory, "scan.csv"), "utf8")).toBe("old");
  expect((await readdir(directory)).toSorted()).toEqual(["scan.csv", "scan.json"]);
});

// In a process of its own, which a limit ends: what never settles also keeps its core busy.
test("makeDirectory settles where nothing can be made", { skip: process.platform !== "linux" }, async () => {
  const module = pathToFileURL(join(import.meta.dirname, "../../command_line/files.ts")).href;
  const script = `
    import { existsSync } from "node:fs";
    import { makeDirectory } from ${JSON.stringify(module)};
    await makeDirectory("/proc/none/of/it").catch(({ code }) => console.log(code));
    await makeDirectory("one/two");
    console.log(existsSync("one/two"));`;
  // A working directory whose name is no UTF-8.
  const shell =
    'cd "$1" && name=$(printf "\\377") && mkdir "$name" && cd "$name" && exec "$2" --input-type=module -e "$3"';
  const args = ["-c", shell, "sh", await ownFolder(), process.execPath, script];
  const { stdout } = await promisify(execFile)("sh", args, { timeout: 60_000 });
  expect(stdout).toBe("ENOENT\ntrue\n");
});
