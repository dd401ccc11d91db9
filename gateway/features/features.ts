import type { Hono } from "hono";
import type { Dependencies } from "../http/dependencies.ts";
import { monitors } from "./monitors/routes.ts";
import { scans } from "./scans/routes.ts";

/** What the gateway mounts of a feature. Its text is in the feature's `description.ts`, see `descriptions.ts`. */
export interface Feature {
  /** The first segment of its channels, and of no other feature's. */
  readonly prefix: string;
  /** Below `/api/v1`. */
  readonly routes: (dependencies: Dependencies) => Hono;
  /** Below `/hooks`: what the provider calls, without a key of ours. */
  readonly hooks?: (dependencies: Dependencies) => Hono;
}

export const features: readonly Feature[] = [scans, monitors];
