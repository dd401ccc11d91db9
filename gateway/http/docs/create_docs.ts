import type { Docs, DocsPage } from "../dependencies.ts";
import type { FeatureDescription } from "./feature_description.ts";

/** Documents made of the features' descriptions, when they are first requested: a start does not wait for them. */
export function createDocs(loadFeatures: () => Promise<readonly FeatureDescription[]>): Docs {
  let building: ReturnType<typeof build> | null = null;
  const documents = () => (building ??= build());
  return {
    openApi: async () => (await documents()).api,
    asyncApi: async () => (await documents()).events,
    page: async () => (await documents()).page,
  };

  async function build() {
    const [{ describeApi }, { describeEvents }, { platformDescription }, features, docsPage] = await Promise.all([
      import("./describe_api.ts"),
      import("./describe_events.ts"),
      import("./platform_description.ts"),
      loadFeatures(),
      import("./docs_page.ts"),
    ]);
    const all = [platformDescription, ...features];
    const api = await describeApi(all);
    const events = describeEvents(all);
    const page: DocsPage = { html: await docsPage.renderDocs(api, events), policy: await docsPage.pagePolicy() };
    return { api, events, page };
  }
}
