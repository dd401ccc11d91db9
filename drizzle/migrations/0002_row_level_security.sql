-- What drizzle-kit does not write. Every statement may be run again.
-- Without FORCE the owner of a table, which DATABASE_URL usually is, would see all rows whenever it forgot to take on a role.
ALTER TABLE public.tenants FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE public.users FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE public.memberships FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE public.api_keys FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE public.scans FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE public.findings FORCE ROW LEVEL SECURITY;--> statement-breakpoint

GRANT USAGE ON SCHEMA public, scanstream TO scanstream_app, scanstream_admin;--> statement-breakpoint
GRANT SELECT ON scanstream.migrations TO scanstream_app, scanstream_admin;--> statement-breakpoint
REVOKE ALL ON public.tenants, public.users, public.memberships, public.api_keys, public.scans, public.findings FROM PUBLIC;--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON public.tenants, public.users, public.memberships, public.api_keys, public.scans, public.findings TO scanstream_admin;--> statement-breakpoint

-- The application reads who belongs to a tenant, and reads and writes its scans. It never needs a key's hash.
GRANT SELECT ON public.tenants, public.users, public.memberships TO scanstream_app;--> statement-breakpoint
GRANT SELECT (id, tenant_id, name, prefix, created_at, revoked_at, last_used_at) ON public.api_keys TO scanstream_app;--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE ON public.scans, public.findings TO scanstream_app;--> statement-breakpoint

-- The two questions that are asked before or beyond a tenant. FORCE binds the owner of a function too, so they belong to
-- scanstream_admin, whom a policy lets see every tenant; the search path is pinned so that nobody can slip in a table.
GRANT CREATE ON SCHEMA scanstream TO scanstream_admin;--> statement-breakpoint
SET LOCAL ROLE scanstream_admin;--> statement-breakpoint

CREATE OR REPLACE FUNCTION scanstream.find_api_key(wanted_hash text)
RETURNS TABLE (id uuid, tenant_id uuid, name text)
LANGUAGE sql VOLATILE STRICT SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
  WITH touched AS (
    UPDATE public.api_keys SET last_used_at = now()
    WHERE api_keys.id = (
      SELECT stale.id FROM public.api_keys AS stale
      WHERE stale.hash = wanted_hash AND stale.revoked_at IS NULL
        AND (stale.last_used_at IS NULL OR stale.last_used_at < now() - interval '1 minute')
      -- Many lookups of one key at once: one of them writes, none waits.
      FOR UPDATE SKIP LOCKED
    )
  )
  SELECT found.id, found.tenant_id, found.name FROM public.api_keys AS found
  WHERE found.hash = wanted_hash AND found.revoked_at IS NULL;
$$;--> statement-breakpoint

CREATE OR REPLACE FUNCTION scanstream.expire_stale_scans(older_than_minutes double precision)
RETURNS TABLE (id uuid, tenant_id uuid, pass integer, fail integer, manual integer)
LANGUAGE sql VOLATILE STRICT SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
  UPDATE public.scans SET status = 'expired', ended_at = now(), updated_at = now()
  WHERE scans.id IN (
    SELECT stale.id FROM public.scans AS stale
    WHERE stale.status IN ('pending', 'running')
      -- Never less than a minute: the caller may be wrong, but not end scans that are alive.
      AND stale.updated_at < now() - make_interval(secs => greatest(older_than_minutes, 1) * 60)
    ORDER BY stale.updated_at LIMIT 1000
    FOR UPDATE SKIP LOCKED
  )
  RETURNING scans.id, scans.tenant_id, scans.pass, scans.fail, scans.manual;
$$;--> statement-breakpoint

REVOKE ALL ON FUNCTION scanstream.find_api_key(text), scanstream.expire_stale_scans(double precision) FROM PUBLIC;--> statement-breakpoint
GRANT EXECUTE ON FUNCTION scanstream.find_api_key(text), scanstream.expire_stale_scans(double precision) TO scanstream_app;--> statement-breakpoint
RESET ROLE;--> statement-breakpoint
REVOKE CREATE ON SCHEMA scanstream FROM scanstream_admin;
