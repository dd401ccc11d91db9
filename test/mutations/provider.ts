import type { Mutation } from "./mutation.ts";

const pages = "pages without end, cursors in circles, links to other hosts";
const bombs = "endless bodies, decompression bombs, deep JSON";
const redirects = "redirects that take a key or token elsewhere";
const control = "control characters for a terminal or a CI log";
const shapes = "prototype keys, other shapes, missing fields, to get a PASS";
const writing = "a scanner tricked into writing";

/** The fifth table of `docs/threat_model.md`, "A hostile identity provider". */
export const provider: readonly Mutation[] = [
  {
    mistake: "lists may have ten times more pages than any list has",
    holds: [pages],
    file: "scanner/idp/http_idp_client.ts",
    find: "const maxPages = 1000;",
    replace: "const maxPages = 1001;",
    testFile: "test/scanner/idp/http_idp_client.test.ts",
    test: "a chain without end",
  },
  {
    mistake: "a next link is followed wherever it leads",
    holds: [pages],
    file: "scanner/idp/http_idp_client.ts",
    find: 'url.origin === this.#options.orgUrl && url.username === ""',
    replace: 'url.username === ""',
    testFile: "test/scanner/idp/http_idp_client.test.ts",
    test: "a chain that leads to",
  },
  {
    mistake: "a page may come twice",
    holds: [pages],
    file: "scanner/idp/http_idp_client.ts",
    find: "cursors.add(cursor);",
    replace: "",
    testFile: "test/scanner/idp/http_idp_client.test.ts",
    test: "a chain that leads to",
  },
  {
    mistake: "a body is read to its end, however long it is",
    holds: [bombs],
    file: "scanner/idp/wire.ts",
    find: "if (bytes > maxBytes) throw",
    replace: "if (bytes < 0) throw",
    testFile: "test/attacks/hostile_provider.test.ts",
    test: "%s as every answer",
  },
  {
    mistake: "JSON may be nested as deep as the stack allows",
    holds: [bombs],
    file: "scanner/idp/json_answer.ts",
    find: "const maxJsonDepth = 100;",
    replace: "const maxJsonDepth = 101;",
    testFile: "test/scanner/idp/http_idp_client.test.ts",
    test: "JSON may be a hundred levels",
  },
  {
    mistake: "redirects are followed",
    holds: [redirects],
    file: "scanner/idp/wire.ts",
    find: 'redirect: "manual",',
    replace: 'redirect: "follow",',
    testFile: "test/attacks/hostile_provider.test.ts",
    test: "redirects to other hosts",
  },
  {
    mistake: "control characters of the provider's words stay in them",
    holds: [control],
    file: "scanner/idp/safe_text.ts",
    find: '    .replaceAll(/[\\p{Cc}\\p{Cf}\\s]+/gu, " ")\n',
    replace: "",
    testFile: "test/attacks/hostile_provider.test.ts",
    test: "%s as every answer",
  },
  {
    mistake: "entries are copied key by key, so a key that is called __proto__ gives the copy a prototype",
    holds: [shapes, "V1"],
    file: "scanner/checks/reading/fields.ts",
    find: "value = Object.hasOwn(value, name) ? value[name] : undefined;",
    replace: "value = (Object.assign({}, value) as JsonObject)[name];",
    testFile: "test/attacks/hostile_provider.test.ts",
    test: "evidence below prototype keys",
  },
  {
    mistake: "an entry of a list that is no object is passed over",
    holds: [shapes, "V1"],
    file: "scanner/idp/http_idp_client.ts",
    find: "return entries.length === page.length ? null",
    replace: "return entries.length <= page.length ? null",
    testFile: "test/scanner/idp/http_idp_client.test.ts",
    test: "a list %j is unreadable, and what of it are objects is kept",
  },
  {
    mistake: "an entry without id, type and name counts as active",
    holds: [shapes, "V1"],
    file: "scanner/checks/reading/activity.ts",
    find: 'if (isNothing(object)) return "unknown";',
    replace: "",
    testFile: "test/scanner/checks/signon_global_session.test.ts",
    test: "%j is evidence of nothing, and a lax policy beside it FAILs",
  },
  {
    mistake: "a list without any entry to judge passes",
    holds: [shapes, "V1"],
    file: "scanner/checks/reading/drafts.ts",
    find: "return drafts.length > 0 ? drafts : judge.none(evidence.value);",
    replace:
      'return drafts.length > 0 ? drafts : [pass({ resource: null, expected: judge.expected }, "nothing against it")];',
    testFile: "test/fuzz/provider.test.ts",
    test: "entries of any kind",
  },
  {
    mistake: "an entry that says nothing of itself is an active one",
    holds: [shapes, "V1"],
    file: "scanner/checks/reading/activity.ts",
    find: 'if (isNothing(object)) return "unknown";',
    replace: 'if (isNothing(object)) return "active";',
    testFile: "test/fuzz/orgs.test.ts",
    test: "generated organizations keep",
  },
  {
    mistake: "a setting that is not there is as it should be",
    holds: [shapes, "V1"],
    file: "scanner/checks/reading/drafts.ts",
    find: 'if (field.kind === "absent") return fail(subject, "not set");',
    replace: 'if (field.kind === "absent") return pass(subject, "not set");',
    testFile: "test/scanner/evaluate.test.ts",
    test: "never PASSes from a deciding field",
  },
  {
    mistake: "whether an endpoint is there is asked with HEAD first, past the gate for what may be sent",
    holds: [writing, "V4"],
    file: "scanner/idp/wire.ts",
    find: "const response = await fetch(url, {",
    replace:
      'await fetch(url, { method: "HEAD", dispatcher: options.dispatcher }).catch(() => null);\n' +
      "    const response = await fetch(url, {",
    testFile: "test/scanner/idp/connect.test.ts",
    test: "nothing but GET below the API",
  },
  {
    mistake: "any method is sent to the API",
    holds: ["V4"],
    file: "scanner/idp/wire.ts",
    find: '    method === "GET" &&\n',
    replace: "",
    testFile: "test/scanner/idp/wire.test.ts",
    test: "a wire refuses %s %s, and nothing leaves",
  },
];
