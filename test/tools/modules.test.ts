import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { build as viteBuild } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { denoProgram, typesTool } from "../runtimes/programs.ts";
import { launchChromium } from "../support/chromium.ts";
import { temporaryFolder } from "../support/command_line.ts";
import { frame, startScriptedServer, status, stream } from "../support/scripted_server.ts";
import { installTarball, packTarball } from "../support/tarball.ts";

/** What others import of the package: the tarball of `npm pack`, installed into an empty project. */

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const tool = (path: string) => join(root, "node_modules", path);

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let tarball: string;
let project: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  tarball = await packTarball(join(folder.path, "package"));
  project = join(folder.path, "project");
  await installTarball(tarball, project);
});
afterAll(() => folder[Symbol.asyncDispose]());

const scanId = "8d6f3f7e-0f0f-4c4c-9a9a-1b1b1b1b1b1b";
const scanStream = stream(
  ": open\n\n",
  frame("scan.snapshot", { scan_id: scanId, checks_done: 7 }),
  ": snapshot complete\n\n",
  frame("scan.end", { scan_id: scanId, status: "completed", pass: 7, fail: 0, manual: 0 }),
);

/** As a user would write it; it types every export. */
const program = `
  import { follow, subscribe, SubscribeError, type Subscription } from "scanstream/subscribe";
  import { makeChannelName, sendEvent, verbs, type MonitorEvents, type Publisher, type Scan, type ScanEvents } from "scanstream/events";
  import { worstStatus, type Report } from "scanstream/report";

  type Events = ScanEvents & { readonly "scan.snapshot": Scan };

  export function watch(url: string, show: (text: string) => void): Subscription<Events> {
    return subscribe<Events>(url, {
      onSnapshot: (snapshot) => snapshot.forEach(({ data }) => show(\`snapshot \${data.checks_done}\`)),
      onEvent: (event) => {
        if (event.type === "scan.end") show(\`\${event.data.status} \${event.data.pass}\`);
        // @ts-expect-error: not an event of the map
        if (event.type === "scan.vanished") return;
      },
    });
  }
  export async function list(url: string): Promise<readonly string[]> {
    const types: string[] = [];
    for await (const { type } of follow<Events>(url)) types.push(type);
    return types;
  }
  export async function publish(publisher: Publisher): Promise<void> {
    const channel = makeChannelName("scan", "${scanId}", "${scanId}");
    await sendEvent(publisher, channel, "scan.start", { scan_id: "${scanId}", checks_total: 1 } satisfies ScanEvents["scan.start"]);
    // @ts-expect-error: a terminal event names its resource
    await sendEvent(publisher, channel, "scan.end", { status: "completed" });
  }
  export const worst = (report: Report) => worstStatus(report.checks.map(({ status }) => status));
  export const isGone = (error: unknown) => error instanceof SubscribeError && error.code === "not_found";
  export const counts = (event: MonitorEvents["monitor.updated"]) => [event.pass, verbs.length] as const;
`;

test("attw finds the types of every export, as ES modules", async () => {
  // It ends with 1 when it has a complaint; only what CommonJS resolves, before Node 22, is left out.
  const { stdout } = await run(process.execPath, [typesTool(), tarball, "--profile", "esm-only"]);
  for (const name of Object.keys(packageJson.exports)) expect(stdout).toContain(`"scanstream${name.slice(1)}"`);
});

test("publint has no complaint", async () => {
  const pkgDir = join(project, "node_modules/scanstream");
  const { messages, pkg } = await publint({ pkgDir, pack: false, strict: true });
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
});

describe("an empty TypeScript project", () => {
  const nodeTypes = { types: ["node"], typeRoots: [tool("@types")] };
  test.each([
    [
      "with a bundler, in a browser",
      { module: "ESNext", moduleResolution: "bundler", lib: ["ES2022", "DOM"], types: [] },
    ],
    [
      "with a bundler, without the DOM",
      { module: "ESNext", moduleResolution: "bundler", lib: ["ES2022"], ...nodeTypes },
    ],
    ["on Node", { module: "NodeNext", moduleResolution: "NodeNext", lib: ["ES2022"], ...nodeTypes }],
    ["on Node, with the DOM", { module: "NodeNext", moduleResolution: "NodeNext", lib: ["ES2022", "DOM"], types: [] }],
  ])("compiles %s, declarations checked", async (_name, compilerOptions) => {
    await writeFile(join(project, "package.json"), JSON.stringify({ type: "module" }));
    await writeFile(join(project, "program.ts"), program);
    const strict = { strict: true, skipLibCheck: false, exactOptionalPropertyTypes: true, noEmit: true };
    await compile({ ...strict, target: "ES2022", ...compilerOptions }, ["program.ts"]);
  });

  test("has the same types as the source, without the library that describes them there", async () => {
    const shared = join(root, "shared");
    await writeFile(
      join(project, "same.ts"),
      `
        import type * as events from "scanstream/events";
        import type * as report from "scanstream/report";
        import type * as eventsSource from "${shared}/events.ts";
        import type * as reportSource from "${shared}/report.ts";
        type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
        type Plain<T> = T extends object ? { [Key in keyof T]: Plain<T[Key]> } : T;
        export const same: readonly true[] = [
          ${sameTypes("report", [...(await typesOf("report")), "Status", "Severity", "ManualReason", "Coverage"])}
          ${sameTypes("events", await typesOf("scan", "scan_events", "monitor", "tenant_events"))}
        ];
      `,
    );
    // Without `exactOptionalPropertyTypes`: JSON has no undefined, and the published types need not tell it from absence.
    const options = { allowImportingTsExtensions: true, skipLibCheck: true };
    await compile(
      {
        strict: true,
        noEmit: true,
        target: "ES2024",
        module: "NodeNext",
        moduleResolution: "NodeNext",
        types: [],
        ...options,
      },
      ["same.ts"],
    );
  });

  /** The names of the types that these files of `shared/schemas/` export. */
  async function typesOf(...names: readonly string[]): Promise<readonly string[]> {
    const texts = await Promise.all(names.map((name) => readFile(join(root, `shared/schemas/${name}.ts`), "utf8")));
    return texts.flatMap((text) => [...text.matchAll(/^export type (\w+)/gm)].map(([, type = ""]) => type));
  }

  function sameTypes(module: string, names: readonly string[]): string {
    return names
      .map((name) => `true satisfies Same<Plain<${module}.${name}>, Plain<${module}Source.${name}>>,`)
      .join("\n");
  }

  async function compile(compilerOptions: object, files: readonly string[]): Promise<void> {
    await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
    const compiler = tool("typescript/bin/tsc");
    const errors = await run(process.execPath, [compiler, "-p", project], { cwd: project }).then(
      () => "",
      (error: unknown) => (error as { readonly stdout: string }).stdout,
    );
    expect(errors).toBe("");
  }
});

test("an empty Vite page follows a scan", async () => {
  await writeFile(join(project, "index.html"), '<ul></ul><script type="module" src="/page.ts"></script>');
  const page = `
    import { watch } from "./program.ts";
    watch("/api/v1/scans/${scanId}/event-stream", (text) => {
      document.querySelector("ul")!.append(Object.assign(document.createElement("li"), { textContent: text }));
    });
  `;
  await writeFile(join(project, "program.ts"), program);
  await writeFile(join(project, "page.ts"), page);
  await viteBuild({
    root: project,
    configFile: false,
    logLevel: "error",
    build: { outDir: "site", emptyOutDir: true },
  });
  await using server = await startScriptedServer(async (response, request) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    if (pathname.endsWith("/event-stream")) return scanStream(response, request);
    const file = pathname === "/" ? "/index.html" : pathname;
    const body = await readFile(join(project, "site", file), "utf8").catch(() => null);
    if (body === null) return status(404)(response, request);
    return status(
      200,
      { "content-type": file.endsWith(".js") ? "text/javascript" : "text/html" },
      body,
    )(response, request);
  });
  await using browser = await launchChromium();
  const tab = await browser.newPage();
  await tab.goto(new URL("/", server.url).href);
  await tab.getByText("completed 7").waitFor();
  expect(await tab.locator("li").allTextContents()).toEqual(["snapshot 7", "completed 7"]);
});

test("Deno checks and runs it", async () => {
  await using server = await startScriptedServer(scanStream);
  await writeFile(join(project, "program.ts"), program);
  await writeFile(join(project, "deno.json"), JSON.stringify({ nodeModulesDir: "manual" }));
  const main = `import { list } from "./program.ts"; console.log((await list("${server.url}?snapshot=1")).join());`;
  await writeFile(join(project, "main.ts"), main);
  const args = ["run", "--check", "--no-lock", "--allow-net=127.0.0.1", "main.ts"];
  const { stdout } = await run(denoProgram(), args, { cwd: project, env: { ...process.env, NO_COLOR: "1" } });
  expect(stdout).toBe("scan.snapshot,scan.end\n");
});

test("subscribe and follow are at most 6 KiB for a browser, minified and compressed, and 8 KiB where tabs share", async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(project, "node_modules/scanstream/dist/modules/subscribe.js")],
    bundle: true,
    splitting: true,
    outdir: join(project, "split"),
    minify: true,
    format: "esm",
    platform: "browser",
    write: false,
    metafile: true,
  });
  const names = Object.keys(metafile.inputs).map((path) => basename(path));
  expect(names.toSorted()).toEqual(["subscribe.js", "subscribe_share.js"]);
  const sizes = outputFiles.map(({ contents }) => gzipSync(contents, { level: 9 }).byteLength);
  expect(sizes[0]).toBeLessThanOrEqual(6 * 1024);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(8 * 1024);
});

test("has the report's schema, and nothing beside what it exports", async () => {
  const script = `
    import schema from "scanstream/report.schema.json" with { type: "json" };
    console.log(schema.$id);
    for (const path of ["scanstream", "scanstream/dist/scanstream.js", "scanstream/dist/modules/subscribe.js"]) {
      await import(path).catch(({ code }) => console.log(code));
    }
  `;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script], { cwd: project });
  expect(stdout.trim().split("\n")).toEqual([
    "https://scanstream.dev/schemas/report/1",
    ...Array.from({ length: 3 }, () => "ERR_PACKAGE_PATH_NOT_EXPORTED"),
  ]);
});
