import { registerHooks } from "node:module";

/** drizzle-orm describes so many exports that reading them again for each of its modules takes Node a second of CPU time. */
registerHooks({
  resolve(specifier, context, nextResolve) {
    const { parentURL = "" } = context;
    if (!/^\..*\.js$/.test(specifier) || !parentURL.includes("/drizzle-orm/")) return nextResolve(specifier, context);
    return { url: new URL(specifier, parentURL).href, format: "module", shortCircuit: true };
  },
});
