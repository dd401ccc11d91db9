import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { anything } from "../test/support/served_routes.ts";
import { createApp } from "../gateway/app.ts";
import { scanstreamFeatures } from "../gateway/features/scanstream_features.ts";
import { describeApi } from "../gateway/description/describe_api.ts";
import type { Dependencies } from "../gateway/http/dependencies.ts";
import { hasCode } from "../shared/error_code.ts";
import { buildPage } from "../gateway/web/build.ts";

/** Builds into `dist/worker` what is deployed with a Worker's code: the live page, and the document of the API. */
const folder = `${import.meta.dirname}/../dist/worker`;
const building = `${folder}.${process.pid}.building`;

await buildPage(building);
await mkdir(`${building}/docs`);
await writeFile(`${building}/docs/openapi.json`, JSON.stringify(await describeGateway()));
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

/** The document is made of the routes, which are defined before anything that they need is used. */
function describeGateway(): Promise<unknown> {
  let describe: () => Promise<unknown> = async () => null;
  const dependencies = Object.assign(Object.create(anything as object) as Dependencies, {
    // A Worker serves no metrics.
    metricsText: null,
    createOpenApi(...given: Parameters<typeof describeApi>) {
      describe = () => describeApi(...given);
      return describe;
    },
  });
  createApp(dependencies, scanstreamFeatures({ retentionDays: null, historyDays: 1 }));
  return describe();
}
