import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** The fields that objects of one kind have: in every one that was seen, or in some. */
interface Shape {
  readonly always: ReadonlySet<string>;
  readonly ever: ReadonlySet<string>;
}

export type Shapes = ReadonlyMap<string, Shape>;

export interface Sample {
  readonly kind: string;
  readonly value: unknown;
}

/** Objects whose keys are names that an administrator gave: nothing to compare inside. */
const openObjects = new Set(["visibility.appLinks", "settings.app", "settings.signOn", "_links.appLinks[]"]);

/** `a.b`, `a.list[]`, `a.list[].c`: every field of a value, whatever it holds. */
function fieldsOf(value: unknown, prefix = ""): ReadonlySet<string> {
  const fields = new Set<string>();
  const visit = (inside: unknown, path: string): void => {
    if (path !== "" && path !== prefix) fields.add(path);
    if (openObjects.has(path) || inside === null || typeof inside !== "object") return;
    if (Array.isArray(inside)) {
      for (const item of inside) visit(item, `${path}[]`);
      return;
    }
    for (const [name, child] of Object.entries(inside)) visit(child, path === "" ? name : `${path}.${name}`);
  };
  visit(value, prefix);
  return fields;
}

/** The kind of an answer's item, by the requested path and the fields that distinguish kinds. */
function kindOf(path: string, item: Record<string, unknown>): string | null {
  const type = String(item["type"]);
  const maker = item["system"] === true ? " system" : "";
  const [, collection = "", ...rest] = /^\/(?:api\/v1\/)?([^/]+)(?:\/(.*))?$/.exec(path) ?? [];
  const below = rest[0] ?? "";
  switch (collection) {
    case "apps":
      return item["name"] === "saasure" ? "app saasure" : `app ${String(item["signOnMode"])}`;
    case "policies":
      return below.includes("/rules") ? `rule ${type}${maker}` : `policy ${type}${maker}`;
    case "zones":
      return `zone ${type}`;
    case "api-tokens":
      return "api token";
    case "brands":
      if (below === "") return "brand";
      if (below.endsWith("/domains")) return null;
      return below.endsWith("/default") ? "default page" : "customized page";
    case "authenticators":
      return `authenticator ${String(item["key"])}`;
    case "logStreams":
      return `log stream ${type}`;
    case "groups":
    case "users":
      if (below.endsWith("/roles")) return "role assignment";
      return below.endsWith("/groups") ? "group" : collection.replace(/s$/, "");
    case "idps":
      return below === "" ? `idp ${type}` : null;
    case ".well-known":
      return "organization";
    case "first-party-app-settings":
      return "first-party settings";
    default:
      return null;
  }
}

export function shapesOf(samples: readonly Sample[]): Shapes {
  const shapes = new Map<string, { always: ReadonlySet<string>; ever: ReadonlySet<string> }>();
  for (const { kind, value } of samples) {
    const fields = fieldsOf(value);
    const known = shapes.get(kind);
    shapes.set(kind, {
      always: known === undefined ? fields : new Set([...known.always].filter((field) => fields.has(field))),
      ever: known === undefined ? fields : new Set([...known.ever, ...fields]),
    });
  }
  return shapes;
}

/** From recorded interactions, and from the official examples where they lie beside them. */
export async function recordedShapes(directory: string): Promise<Shapes> {
  const samples: Sample[] = [];
  for (const file of await jsonFiles(directory)) {
    const { request, response } = JSON.parse(await readFile(file, "utf8")) as {
      request: { path: string };
      response: { status: number; body: unknown };
    };
    samples.push(...samplesOf(request.path, response.status, response.body));
  }
  for (const file of await jsonFiles(join(directory, "..", "openapi_examples"))) {
    const path = `/${(file.split("/").at(-2) ?? "").replaceAll("__", "/")}`;
    const isWanted = /smartcardidp|examplesettings|retrieveallzones/i.test(file);
    if (isWanted) samples.push(...samplesOf(path, 200, JSON.parse(await readFile(file, "utf8"))));
  }
  return shapesOf(samples);
}

export function samplesOf(path: string, status: number, body: unknown): readonly Sample[] {
  if (status !== 200) return path.startsWith("/api/v1/") ? [{ kind: "error", value: body }] : [];
  const items = (Array.isArray(body) ? body : [body]) as Record<string, unknown>[];
  return items.flatMap((value) => {
    const kind = kindOf(path, value);
    return kind === null ? [] : [{ kind, value }];
  });
}

async function jsonFiles(directory: string): Promise<readonly string[]> {
  try {
    const names = await readdir(directory, { recursive: true });
    return names
      .filter((name) => name.endsWith(".json"))
      .sort()
      .map((name) => join(directory, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

export function printShapes(shapes: Shapes): string {
  const lines = [...shapes].flatMap(([kind, { always, ever }]) =>
    [...ever].map((field) => `${kind}\t${always.has(field) ? "always" : "sometimes"}\t${field}`),
  );
  return `${lines.sort().join("\n")}\n`;
}

export function parseShapes(text: string): Shapes {
  const shapes = new Map<string, { always: Set<string>; ever: Set<string> }>();
  for (const line of text.trim().split("\n")) {
    const [kind = "", when, field = ""] = line.split("\t");
    const shape = shapes.get(kind) ?? { always: new Set(), ever: new Set() };
    shape.ever.add(field);
    if (when === "always") shape.always.add(field);
    shapes.set(kind, shape);
  }
  return shapes;
}
