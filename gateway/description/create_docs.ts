import type { Described, Docs, DocsPage } from "./described.ts";

/** Documents made of the routes and channels when they are first requested: a start does not wait for them. */
export function createDocs(describe: () => Described): Docs {
  let building: ReturnType<typeof build> | null = null;
  const documents = () => (building ??= build());
  return {
    openApi: async () => (await documents()).api,
    asyncApi: async () => (await documents()).events,
    page: async () => (await documents()).page,
  };

  async function build() {
    const [{ describeApi }, { describeEvents }, docsPage] = await Promise.all([
      import("./describe_api.ts"),
      import("./describe_events.ts"),
      import("./docs_page.ts"),
    ]);
    const described = describe();
    const api = await describeApi(described);
    const events = describeEvents(described);
    const page: DocsPage = { html: await docsPage.renderDocs(api, events), policy: await docsPage.pagePolicy() };
    return { api, events, page };
  }
}
