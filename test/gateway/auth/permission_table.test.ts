import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { permissions } from "../../../gateway/auth/permissions.ts";
import { servedRoutes } from "../../support/served_routes.ts";

/** The rows of the table below a heading. */
async function rowsBelow(heading: string, name: string): Promise<readonly string[]> {
  const document = await readFile(new URL(`../../../docs/${name}`, import.meta.url), "utf8");
  const [, below = ""] = document.split(`# ${heading}\n`);
  const [section = ""] = below.split("\n## ");
  return section.split("\n").filter((line) => line.startsWith("| `"));
}

const list = (names: readonly string[]) => (names.length === 0 ? "–" : names.join(", "));

/** One row for each permission, with its routes in the order in which they are served. */
function routeRows(): readonly string[] {
  const nameOf = ({ access }: ReturnType<typeof servedRoutes>[number]) => (access === "public" ? "none" : access);
  return [...Map.groupBy(servedRoutes(), nameOf)].map(([name, routes]) => {
    return `| \`${name}\` | ${routes.map(({ method, path }) => `\`${method} ${path}\``).join(", ")} |`;
  });
}

/** The walk asks of each route what it declares; that it declares the right thing stands here, written down by people. */
test("the documents name for every route the permission, and for every permission the roles and the scope", async () => {
  expect((await rowsBelow("Routes", "reference/routes.md")).toSorted()).toEqual(routeRows().toSorted());
  const named = Object.entries(permissions).map(
    ([name, { roles, scopes, description }]) => `| \`${name}\` | ${list(roles)} | ${list(scopes)} | ${description} |`,
  );
  expect(await rowsBelow("Permissions", "access.md")).toEqual(named);
});
