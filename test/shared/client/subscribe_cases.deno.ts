import { subscribeCases } from "./subscribe_cases.ts";

for (const [name, run] of Object.entries(subscribeCases)) Deno.test(name, run);
