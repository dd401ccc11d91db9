-- The login of the gateways: a member of the application's role, which row-level security holds to one tenant at a time.
-- psql, as the owner of the tables, after `scanstream migrate`; GATEWAY_PASSWORD is in the environment. Can be run again.
\getenv password GATEWAY_PASSWORD
select 'create role scanstream_gateway login noinherit in role scanstream_app'
where not exists (select from pg_roles where rolname = 'scanstream_gateway') \gexec
alter role scanstream_gateway login password :'password';
