#!/usr/bin/env node
import { explainUnsupportedNode } from "./node_version.ts";

// Nothing else is imported before this: what it would import does not even load on an older Node.
const problem = explainUnsupportedNode(process.versions.node);
if (problem === null) {
  await import("./main.ts");
} else {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 2;
}
