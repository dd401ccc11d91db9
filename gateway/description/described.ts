import type { RouterRoute } from "hono/types";
import type { ChannelDescription, Operation, Tag } from "./operation.ts";

/** What the documents are made of. */
export interface Described {
  readonly operations: readonly DescribedOperation[];
  readonly tags: readonly Tag[];
  readonly channels: readonly ChannelDescription[];
}

interface DescribedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** The operations of an application's routes. A handler without one is no part of the API: a page, or a document itself. */
export function operationsOf(routes: readonly RouterRoute[]): readonly DescribedOperation[] {
  return routes.flatMap(({ method, path, handler }) =>
    "operation" in handler ? [{ method, path, operation: handler.operation as Operation }] : [],
  );
}

/** The documents about the API and its events. */
export interface Docs {
  openApi(): Promise<unknown>;
  asyncApi(): Promise<unknown>;
  page(): Promise<DocsPage>;
}

export interface DocsPage {
  readonly html: string;
  /** The Content-Security-Policy that allows the page's own style and nothing else. */
  readonly policy: string;
}
