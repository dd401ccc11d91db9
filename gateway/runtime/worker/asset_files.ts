import { NotFound } from "../../../shared/app_error.ts";
import type { WebAssets } from "../../http/dependencies.ts";
import type { Fetcher } from "./bindings.ts";

/** The live page's files, from the assets that were deployed with the Worker. */
export function createAssetFiles(assets: Fetcher): WebAssets {
  return {
    async read(path) {
      const response = await readAsset(assets, path);
      return response === null ? null : new Uint8Array(await response.arrayBuffer());
    },
  };
}

/** The document as `tools/build_worker.ts` has written it: what makes it is a tenth of the bundle that it stays out of. */
export async function readOpenApi(assets: Fetcher): Promise<unknown> {
  const response = await readAsset(assets, "docs/openapi.json");
  if (response === null) throw new NotFound("This deployment has no OpenAPI document");
  return response.json();
}

async function readAsset(assets: Fetcher, path: string): Promise<Response | null> {
  const response = await assets.fetch(new Request(new URL(path, "https://assets.internal/")));
  if (response.status === 200) return response;
  await response.body?.cancel();
  return null;
}
