import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { anything } from "../conformance/gateway/permissions/served_routes.ts";
import { createApp } from "../gateway/app.ts";
import { createDocs } from "../gateway/description/create_docs.ts";
import type { Docs } from "../gateway/description/described.ts";
import type { Dependencies } from "../gateway/http/dependencies.ts";
import { hasCode } from "../shared/error_code.ts";
import { buildPage } from "../gateway/web/build.ts";

/** Builds into `dist/worker` what is deployed with a Worker's code: the live page, and the documents. */
const folder = `${import.meta.dirname}/../dist/worker`;
const building = `${folder}.${process.pid}.building`;

await buildPage(building);
const documents = await documentsOfGateway();
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

/** The documents are made of the routes, which are defined before anything that they need is used. */
async function documentsOfGateway() {
  const made = Promise.withResolvers<Docs>();
  const dependencies = Object.assign(Object.create(anything as object) as Dependencies, {
    // A Worker serves no metrics.
    metricsText: null,
    createDocs(describe: Parameters<Dependencies["createDocs"]>[0]) {
      const docs = createDocs(describe);
      made.resolve(docs);
      return docs;
    },
  });
  createApp(dependencies);
  const docs = await made.promise;
  return { openapi: await docs.openApi(), asyncapi: await docs.asyncApi(), page: await docs.page() };
}
