import { type Start } from "./start.ts";

export function newFeature(name: string): Start {
  throw new RangeError(`${name}: not yet`);
}
