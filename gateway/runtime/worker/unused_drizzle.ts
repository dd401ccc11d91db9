/**
 * In the place of Drizzle's modules that wrangler.toml names under `[alias]`: they are imported by what a Worker uses, and
 * what is in them is only used by column callbacks, relational queries, `$count` and materialized views, which
 * `TenantTransaction` does not have or nothing here calls.
 */
const unused = undefined;

export {
  unused as createTableRelationsHelpers,
  unused as extractTablesRelationalConfig,
  unused as getOperators,
  unused as getOrderByOperators,
  unused as getPgColumnBuilders,
  unused as Many,
  unused as normalizeRelation,
  unused as One,
  unused as PgCountBuilder,
  unused as PgRefreshMaterializedView,
  unused as RelationalQueryBuilder,
};
