import type { WebAssets } from "../dependencies.ts";
import type { Fetcher } from "./bindings.ts";

/** The live page's files, from the assets that were deployed with the Worker. */
export function createAssetFiles(assets: Fetcher): WebAssets {
  return {
    async read(path) {
      const response = await assets.fetch(new Request(new URL(path, "https://assets.internal/")));
      if (response.status !== 200) {
        await response.body?.cancel();
        return null;
      }
      return {
        body: new Uint8Array(await response.arrayBuffer()),
        contentType: response.headers.get("content-type") ?? "application/octet-stream",
      };
    },
  };
}
