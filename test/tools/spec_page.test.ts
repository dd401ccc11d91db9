import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const docs = join(import.meta.dirname, "../../docs");
const page = readFileSync(join(docs, "spec.md"), "utf8");
/** A reader finds the name on the screen that the link opens. */
const linesAround = 30;

test("each name of docs/spec.md is where its link goes", () => {
  const links = [...page.matchAll(/\[`([^`]+)`\]\(([^)#]+)#L(\d+)\)/g)];
  expect(links.length).toBeGreaterThan(30);
  const lost = links.flatMap(([, name = "", path = "", line]) => {
    const lines = readFileSync(join(docs, path), "utf8").split("\n");
    const at = lines.flatMap((text, index) => (text.includes(name) ? [index + 1] : []));
    return at.some((found) => Math.abs(found - Number(line)) <= linesAround)
      ? []
      : [`${path}: ${name} is in ${at.join()}`];
  });
  expect(lost).toEqual([]);
});
