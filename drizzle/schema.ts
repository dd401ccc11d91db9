/** Every table, for queries and for drizzle-kit. */
export * from "./tables/decisions.ts";
export * from "./tables/organizations.ts";
export * from "./tables/people.ts";
export * from "./tables/published.ts";
export * from "./tables/runs.ts";
