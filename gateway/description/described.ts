import type { RouterRoute } from "hono/types";
import type { Operation, Tag } from "./operation.ts";

/** What the document is made of. */
export interface Described {
  readonly operations: readonly DescribedOperation[];
  readonly tags: readonly Tag[];
}

interface DescribedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** The operations of an application's routes. A handler without one is no part of the API: a page, or the document itself. */
export function operationsOf(routes: readonly RouterRoute[]): readonly DescribedOperation[] {
  return routes.flatMap(({ method, path, handler }) =>
    "operation" in handler ? [{ method, path, operation: handler.operation as Operation }] : [],
  );
}

/** Makes the document of the API; what it is made of is asked for when it is first requested. */
export type CreateOpenApi = (describe: () => Described) => () => Promise<unknown>;
