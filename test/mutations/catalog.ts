import { gettingIn } from "./getting_in.ts";
import type { Mutation } from "./mutation.ts";

/** Every mistake that some test has to see. */
export const mutations: readonly Mutation[] = [...gettingIn];
