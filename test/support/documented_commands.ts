import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "./built_package.ts";

export function documentText(file: string): Promise<string> {
  return readFile(join(root, file), "utf8");
}
