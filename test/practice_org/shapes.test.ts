import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fetch, Request } from "undici";
import { describe, expect, test } from "vitest";
import type { Fetch } from "../../scanner/okta/http_transport.ts";
import { jsonFiles } from "../support/recorded_objects.ts";
import { scanPracticeOrg } from "../support/scan_practice_org.ts";
import { startOrg } from "./start_org.ts";

/** The fields that objects of one kind have: in every one that was seen, or in some. */
interface Shape {
  readonly always: ReadonlySet<string>;
  readonly ever: ReadonlySet<string>;
}

type Shapes = ReadonlyMap<string, Shape>;

interface Sample {
  readonly kind: string;
  readonly value: unknown;
}

/** Objects whose keys are names that an administrator gave: nothing to compare inside. */
const openObjects = new Set(["visibility.appLinks", "settings.app", "settings.signOn", "_links.appLinks[]"]);

/** Which fields a real org's answers have; made from the recordings, and renewed from them by `vitest -u`. */
const fixture = join(import.meta.dirname, "recorded_shapes.txt");
const recordings = process.env["OKTA_RECORDED_DIR"];

/** Fields that the official reference has, and no recording happens to show. */
const documented = [
  // Domains of a brand, with `expand=domains`.
  /^_embedded\b/,
  /^_links\.activate\b/,
  // Password policies have it; the sign-on policies were recorded in 2020.
  /^_links\.mappings\b/,
  /^actions\.appSignOn\.verificationMethod\.constraints\[\]\.possession\.phishingResistant$/,
  /^(conditions\.)?network\.include(\[\])?$/,
];

const kept = parseShapes(readFileSync(fixture, "utf8"));
const fresh = recordings === undefined ? new Map<string, never>() : recordedShapes(recordings);
const real: Shapes = new Map([...kept, ...fresh].filter(([kind]) => kept.has(kind)));
const ours = await practiceShapes();

test("The fixture agrees with the recordings", async () => {
  await expect(printShapes(real)).toMatchFileSnapshot(fixture);
});

describe("The practice org's objects have the fields of real ones", () => {
  test.each([...kept.keys()])("%s", (kind) => {
    const recorded = real.get(kind);
    const answered = ours.get(kind);
    expect(recorded, "recorded").toBeDefined();
    expect(answered, "answered").toBeDefined();
    // Objects that the provider made and those that people made differ in the fields they have, not in those they can have.
    const possible = new Set([kind, kind.replace(/ system$/, "")].flatMap((name) => [...(real.get(name)?.ever ?? [])]));
    const isKnown = (field: string) => possible.has(field) || documented.some((pattern) => pattern.test(field));
    const invented = [...(answered?.ever ?? [])].filter((field) => !isKnown(field));
    const leftOut = [...(recorded?.always ?? [])].filter((field) => answered?.ever.has(field) !== true);
    expect({ invented, leftOut }).toEqual({ invented: [], leftOut: [] });
  });
});

/** The shapes of what a scan receives. */
async function practiceShapes(): Promise<Shapes> {
  const samples: Sample[] = [];
  const recording: Fetch = async (input, init) => {
    const response = await fetch(input, init);
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    samples.push(...samplesOf(pathname, response.status, await response.clone().json()));
    return response;
  };
  for (const name of ["typical", "compliant"] as const)
    await scanPracticeOrg(await startOrg({ profile: { name } }), { fetch: recording });
  return shapesOf(samples);
}

/** `a.b`, `a.list[]`, `a.list[].c`: the path of every field of a value. */
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

function shapesOf(samples: readonly Sample[]): Shapes {
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

/** Shapes from recorded interactions, and from the official examples if they are there. */
function recordedShapes(directory: string): Shapes {
  const recorded = jsonFiles(directory).flatMap((file) => {
    const { request, response } = JSON.parse(readFileSync(file, "utf8")) as {
      request: { path: string };
      response: { status: number; body: unknown };
    };
    return samplesOf(request.path, response.status, response.body);
  });
  const examples = jsonFiles(join(directory, "..", "openapi_examples"))
    .filter((file) => /smartcardidp|examplesettings|retrieveallzones/i.test(file))
    .flatMap((file) => {
      const path = `/${basename(dirname(file)).replaceAll("__", "/")}`;
      return samplesOf(path, 200, JSON.parse(readFileSync(file, "utf8")));
    });
  return shapesOf([...recorded, ...examples]);
}

function samplesOf(path: string, status: number, body: unknown): readonly Sample[] {
  if (status !== 200) return path.startsWith("/api/v1/") ? [{ kind: "error", value: body }] : [];
  const items = (Array.isArray(body) ? body : [body]) as Record<string, unknown>[];
  return items.flatMap((value) => {
    const kind = kindOf(path, value);
    return kind === null ? [] : [{ kind, value }];
  });
}

function printShapes(shapes: Shapes): string {
  const lines = [...shapes].flatMap(([kind, { always, ever }]) =>
    [...ever].map((field) => `${kind}\t${always.has(field) ? "always" : "sometimes"}\t${field}`),
  );
  return `${lines.sort().join("\n")}\n`;
}

function parseShapes(text: string): Shapes {
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
