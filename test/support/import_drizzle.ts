import { registerHooks } from "node:module";

/** Resolves the modules of drizzle-orm. Node would read its long package.json for each of them, which takes a second of CPU time. */
registerHooks({
  resolve(specifier, context, nextResolve) {
    const { parentURL = "" } = context;
    if (!/^\..*\.js$/.test(specifier) || !parentURL.includes("/drizzle-orm/")) return nextResolve(specifier, context);
    return { url: new URL(specifier, parentURL).href, format: "module", shortCircuit: true };
  },
});
