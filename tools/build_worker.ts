import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { featureDescriptions } from "../gateway/features/descriptions.ts";
import { createDocs } from "../gateway/http/docs/create_docs.ts";
import { hasCode } from "../shared/error_code.ts";
import { buildPage } from "../gateway/web/build.ts";

/** Builds into `dist/worker` what is deployed with a Worker's code: the live page, and the documents. */
const folder = `${import.meta.dirname}/../dist/worker`;
const building = `${folder}.${process.pid}.building`;

await buildPage(building);
const docs = createDocs(async () => featureDescriptions);
const documents = { openapi: await docs.openApi(), asyncapi: await docs.asyncApi(), page: await docs.page() };
await mkdir(`${building}/docs`);
for (const [name, document] of Object.entries(documents)) {
  await writeFile(`${building}/docs/${name}.json`, JSON.stringify(document));
}
// Put in place whole: a Worker that is running locally never serves half of it. Another build may do the same at this moment.
for (let attemptsLeft = 10; ; attemptsLeft -= 1) {
  await rm(folder, { recursive: true, force: true });
  try {
    await rename(building, folder);
    break;
  } catch (error) {
    if (attemptsLeft === 0 || !hasCode(error, "ENOTEMPTY", "EEXIST")) throw error;
  }
}
