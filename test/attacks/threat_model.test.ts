import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");

/** A page that names tests which are gone would promise what nothing holds. */
test.each(["docs/threat_model.md", "docs/reliability.md"])("every test that %s names is there", (page) => {
  const text = readFileSync(join(root, page), "utf8");
  const named = [...text.matchAll(/`(test\/[\w./]+\.ts)`(?:: ([^|·`\n]+))?/g)];
  expect(named.length).toBeGreaterThan(5);
  for (const [, file = "", title] of named) {
    expect(existsSync(join(root, file)), file).toBe(true);
    const source = readFileSync(join(root, file), "utf8");
    if (title !== undefined) expect(source, `${file} has no test that begins with this`).toContain(`"${title.trim()}`);
  }
});
