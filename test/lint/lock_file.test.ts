import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";

interface LockedPackage {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

test("the lock file holds the binaries of every platform, or npm ci would refuse it", async () => {
  const file = new URL("../../package-lock.json", import.meta.url);
  const { packages } = JSON.parse(await readFile(file, "utf8")) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  const wanted = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).map((name) => ({ path, name })),
  );
  expect(wanted.length).toBeGreaterThan(100);
  const missing = wanted.filter(
    ({ path, name }) => !(`${path}/node_modules/${name}` in packages) && !(`node_modules/${name}` in packages),
  );
  expect(missing).toEqual([]);
});
