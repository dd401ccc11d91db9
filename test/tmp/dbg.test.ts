import { test } from "vitest";
import { failing, typical, planOf } from "../scanner/fix/planned_orgs.ts";
test("x", async () => {
  for (const a of [await failing, await typical]) {
    const p = planOf(a);
    console.log([...new Set(p.byHand.map((b) => b.check + " :: " + b.why))].join("\n"));
    console.log(p.losses.map((b) => b.text).join("\n"));
    console.log(p.resources.map((r) => r.type + "." + r.name).join("\n"));
    console.log(p.variables.map((r) => r.name + " " + r.description).join("\n"));
  }
}, 60000);
