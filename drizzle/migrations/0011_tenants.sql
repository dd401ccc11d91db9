-- The ids of scans and monitors are chosen by producers and unique in a tenant, so that an answer shows nothing about another tenant.
ALTER TABLE "monitors" DROP CONSTRAINT "monitors_pkey";--> statement-breakpoint
ALTER TABLE "scans" DROP CONSTRAINT "scans_pkey";--> statement-breakpoint
ALTER TABLE "webhooks" DROP CONSTRAINT "webhooks_disabled_reason";--> statement-breakpoint
DROP INDEX "webhook_deliveries_due";--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "made_by" uuid;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "made_by" uuid;--> statement-breakpoint
-- Under FORCE ROW LEVEL SECURITY the tables' owner sees no row; this role sees all.
SET LOCAL ROLE scanstream_admin;--> statement-breakpoint
UPDATE public.webhooks SET host = host || ':' || coalesce(
  substring(url FROM '^[^/]*//(?:\[[^\]]*\]|[^/?#:]*):([0-9]+)'), CASE WHEN url LIKE 'https:%' THEN '443' ELSE '80' END);--> statement-breakpoint
UPDATE public.webhook_deliveries AS test SET status = 'dead', last_error = 'Not sent: another test of this webhook was pending'
WHERE status = 'pending' AND type = 'webhook.test' AND EXISTS (
  SELECT FROM public.webhook_deliveries AS other
  WHERE other.tenant_id = test.tenant_id AND other.webhook_id = test.webhook_id AND other.status = 'pending'
    AND other.type = 'webhook.test' AND other.id > test.id);--> statement-breakpoint
RESET ROLE;--> statement-breakpoint
CREATE INDEX "api_keys_made_by" ON "api_keys" USING btree ("made_by") WHERE "api_keys"."made_by" is not null;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_waiting" ON "webhook_deliveries" USING btree ("tenant_id","webhook_id","next_attempt_at") WHERE "webhook_deliveries"."status" = 'pending';--> statement-breakpoint
CREATE UNIQUE INDEX "webhook_deliveries_one_test" ON "webhook_deliveries" USING btree ("tenant_id","webhook_id") WHERE "webhook_deliveries"."status" = 'pending' and "webhook_deliveries"."type" = 'webhook.test';--> statement-breakpoint
CREATE INDEX "webhooks_made_by" ON "webhooks" USING btree ("made_by") WHERE "webhooks"."made_by" is not null and "webhooks"."enabled";--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_disabled_reason" CHECK ("webhooks"."disabled_reason" is null or ("webhooks"."disabled_reason" in ('gone', 'key_ended') and not "webhooks"."enabled"));--> statement-breakpoint
-- What drizzle-kit does not write.
GRANT SELECT (made_by) ON public.api_keys, public.webhooks TO scanstream_app;--> statement-breakpoint
-- Number and time of an audit event are the database's own: a number that was written would keep the next change from being made.
REVOKE INSERT ON public.audit_events FROM scanstream_app, scanstream_admin;--> statement-breakpoint
GRANT INSERT (tenant_id, actor_kind, actor_id, action, target_type, target_id, detail)
  ON public.audit_events TO scanstream_app, scanstream_admin;--> statement-breakpoint

-- What an API key made or changed last belongs to it, until a person or an operator changes it. The gateway's own changes count as nobody's.
CREATE FUNCTION scanstream.set_made_by() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  actor constant text := coalesce(current_setting('app.actor', true), '');
BEGIN
  IF actor LIKE 'api_key:%' THEN
    NEW.made_by := substr(actor, length('api_key:') + 1)::uuid;
  ELSIF TG_OP = 'INSERT' OR actor LIKE 'user:%' OR actor LIKE 'operator:%' THEN
    NEW.made_by := NULL;
  END IF;
  RETURN NEW;
END
$$;--> statement-breakpoint

-- Why rows are being deleted: `tenant` or `retention` inside the two functions that delete them, otherwise empty. The application's
-- role may set the variable as well, and it then counts for nothing.
CREATE FUNCTION scanstream.erasing() RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT CASE WHEN current_user = 'scanstream_admin' THEN coalesce(current_setting('app.erasing', true), '') ELSE '' END;
$$;--> statement-breakpoint
REVOKE ALL ON FUNCTION scanstream.set_made_by(), scanstream.erasing() FROM PUBLIC;--> statement-breakpoint
GRANT EXECUTE ON FUNCTION scanstream.erasing() TO scanstream_app, scanstream_admin;--> statement-breakpoint

CREATE TRIGGER api_keys_made_by BEFORE INSERT ON public.api_keys
  FOR EACH ROW EXECUTE FUNCTION scanstream.set_made_by();--> statement-breakpoint
CREATE TRIGGER webhooks_made_by BEFORE INSERT OR UPDATE ON public.webhooks
  FOR EACH ROW EXECUTE FUNCTION scanstream.set_made_by();--> statement-breakpoint
CREATE OR REPLACE TRIGGER scans_deleted_audit AFTER DELETE ON public.scans
  FOR EACH ROW WHEN (scanstream.erasing() = '')
  EXECUTE FUNCTION scanstream.write_audit('scan', 'id');--> statement-breakpoint
CREATE OR REPLACE TRIGGER monitors_deleted_audit AFTER UPDATE OF deleted_at ON public.monitors
  FOR EACH ROW WHEN (NEW.deleted_at IS NOT NULL AND OLD.deleted_at IS NULL AND scanstream.erasing() = '')
  EXECUTE FUNCTION scanstream.write_audit('monitor', 'id', 'monitor.deleted');--> statement-breakpoint

-- As in 0007, but the variable is read as the triggers read it.
CREATE OR REPLACE FUNCTION scanstream.keep_deleted_scans() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF scanstream.erasing() = 'tenant' THEN RETURN NULL; END IF;
  UPDATE public.tenants SET deleted_scans = tenants.deleted_scans + counted.count
  FROM (SELECT tenant_id, count(*) FROM gone GROUP BY tenant_id) AS counted WHERE tenants.id = counted.tenant_id;
  INSERT INTO public.deleted_scans (tenant_id, id)
  SELECT gone.tenant_id, gone.id FROM gone JOIN public.tenants ON tenants.id = gone.tenant_id
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;--> statement-breakpoint

-- As in 0002: what is asked beyond one tenant belongs to scanstream_admin, with a pinned search path.
GRANT CREATE ON SCHEMA scanstream TO scanstream_admin;--> statement-breakpoint
SET LOCAL ROLE scanstream_admin;--> statement-breakpoint

-- As in 0007, but for its first statement.
CREATE OR REPLACE FUNCTION scanstream.delete_scan(wanted_id uuid, max_rows integer)
RETURNS TABLE (is_deleted boolean, tenant_id uuid, status text, pass integer, fail integer, manual integer, deleted_scans integer)
LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
#variable_conflict use_column
DECLARE
  tenant constant uuid := nullif(current_setting('app.tenant_id', true), '')::uuid;
  removed integer;
  deleted public.scans;
BEGIN
  -- Somebody deletes it, so it is in the audit trail, also where the transaction has set this.
  PERFORM set_config('app.erasing', '', true);
  UPDATE public.scans SET status = 'cancelled', ended_at = now()
  WHERE tenant_id = tenant AND id = wanted_id AND ended_at IS NULL;
  DELETE FROM public.findings WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM public.findings WHERE tenant_id = tenant AND scan_id = wanted_id LIMIT max_rows));
  GET DIAGNOSTICS removed = ROW_COUNT;
  IF removed >= max_rows THEN
    RETURN QUERY SELECT false, scans.tenant_id, scans.status, scans.pass, scans.fail, scans.manual, 0
      FROM public.scans WHERE tenant_id = tenant AND id = wanted_id;
    RETURN;
  END IF;
  DELETE FROM public.scans WHERE tenant_id = tenant AND id = wanted_id RETURNING * INTO deleted;
  IF NOT FOUND THEN RETURN; END IF;
  -- Counted by the trigger, in the order in which deletions are committed.
  RETURN QUERY SELECT true, tenant, deleted.status, deleted.pass, deleted.fail, deleted.manual, tenants.deleted_scans::integer
    FROM public.tenants WHERE tenants.id = tenant;
END
$$;--> statement-breakpoint

-- The lock makes a key and the revocation of its maker wait for each other.
CREATE FUNCTION scanstream.require_maker() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM FROM public.api_keys AS maker
  WHERE maker.id = NEW.made_by AND maker.tenant_id = NEW.tenant_id AND maker.revoked_at IS NULL AND NEW.scopes <@ maker.scopes
    AND (maker.expires_at IS NULL OR NEW.expires_at <= maker.expires_at)
  FOR SHARE;
  IF FOUND THEN RETURN NULL; END IF;
  RAISE EXCEPTION 'a key exceeds the one that makes it' USING ERRCODE = 'check_violation', CONSTRAINT = 'api_keys_maker';
END
$$;--> statement-breakpoint

-- Every key that the revoked one made, and those that they made. Once more until none is left: a key may have been made while this waited.
CREATE FUNCTION scanstream.revoke_made_keys() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  LOOP
    WITH RECURSIVE made AS (
      SELECT id FROM public.api_keys WHERE made_by = NEW.id
      UNION
      SELECT next.id FROM public.api_keys AS next JOIN made ON next.made_by = made.id
    )
    UPDATE public.api_keys SET revoked_at = NEW.revoked_at WHERE id IN (SELECT id FROM made) AND revoked_at IS NULL;
    EXIT WHEN NOT FOUND;
  END LOOP;
  RETURN NULL;
END
$$;--> statement-breakpoint

-- As in 0002, 0007 and 0010, but by tenant and id.
CREATE OR REPLACE FUNCTION scanstream.expire_stale_scans(older_than_minutes double precision)
RETURNS TABLE (id uuid, tenant_id uuid, pass integer, fail integer, manual integer)
LANGUAGE sql VOLATILE STRICT SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
  UPDATE public.scans SET status = 'expired', ended_at = now(), updated_at = now()
  WHERE (scans.tenant_id, scans.id) IN (
    SELECT stale.tenant_id, stale.id FROM public.scans AS stale
    WHERE stale.status IN ('pending', 'running')
      -- Never less than a minute: the caller may be wrong, but not end scans that are alive.
      AND stale.updated_at < now() - make_interval(secs => greatest(older_than_minutes, 1) * 60)
    ORDER BY stale.updated_at LIMIT 1000
    FOR UPDATE SKIP LOCKED
  )
  RETURNING scans.id, scans.tenant_id, scans.pass, scans.fail, scans.manual;
$$;--> statement-breakpoint

CREATE OR REPLACE FUNCTION scanstream.mark_stale_monitors()
RETURNS TABLE (
  id uuid, tenant_id uuid, log_status text, error_code text, last_look_at text, lag_seconds double precision,
  checks_total integer, pass integer, fail integer, manual integer
)
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
  UPDATE public.monitors SET stale_at = now()
  WHERE (monitors.tenant_id, monitors.id) IN (
    SELECT stale.tenant_id, stale.id FROM public.monitors AS stale
    WHERE stale.status = 'running' AND stale.stale_at IS NULL AND stale.stale_from <= now()
    ORDER BY stale.stale_from LIMIT 1000
    FOR UPDATE SKIP LOCKED
  )
  RETURNING monitors.id, monitors.tenant_id, monitors.log_status, monitors.error_code,
    to_char(monitors.last_look_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), monitors.lag_seconds,
    monitors.checks_total, monitors.pass, monitors.fail, monitors.manual;
$$;--> statement-breakpoint

CREATE OR REPLACE FUNCTION scanstream.delete_expired(older_than_days double precision, max_rows integer)
RETURNS TABLE (kind text, id uuid, tenant_id uuid)
LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
#variable_conflict use_column
DECLARE
  -- Never less than a day: the caller may be wrong, but not delete what was just made.
  cutoff constant timestamptz := now() - make_interval(secs => greatest(older_than_days, 1) * 86400);
  max_parents constant integer := least(max_rows, 500);
  old tid[];
  removed integer;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtext('scanstream.delete_expired')) THEN RETURN; END IF;
  PERFORM set_config('app.erasing', 'retention', true);

  old := ARRAY(
    SELECT scans.ctid FROM public.scans WHERE scans.ended_at < cutoff ORDER BY scans.ended_at LIMIT max_parents FOR UPDATE SKIP LOCKED);
  DELETE FROM public.findings WHERE ctid = ANY (ARRAY(
    SELECT findings.ctid FROM public.scans
    JOIN public.findings ON findings.tenant_id = scans.tenant_id AND findings.scan_id = scans.id
    WHERE scans.ctid = ANY (old) LIMIT max_rows));
  GET DIAGNOSTICS removed = ROW_COUNT;
  IF removed < max_rows THEN
    RETURN QUERY DELETE FROM public.scans WHERE scans.ctid = ANY (old) RETURNING 'scan', scans.id, scans.tenant_id;
  END IF;
  IF cardinality(old) > 0 THEN
    RETURN QUERY SELECT 'more', NULL::uuid, NULL::uuid;
    RETURN;
  END IF;

  old := ARRAY(
    SELECT monitors.ctid FROM public.monitors WHERE monitors.ended_at < cutoff AND monitors.deleted_at IS NULL
    ORDER BY monitors.ended_at LIMIT max_parents FOR UPDATE SKIP LOCKED);
  DELETE FROM public.changes WHERE ctid = ANY (ARRAY(
    SELECT changes.ctid FROM public.monitors
    JOIN public.changes ON changes.tenant_id = monitors.tenant_id AND changes.monitor_id = monitors.id
    WHERE monitors.ctid = ANY (old) LIMIT max_rows));
  GET DIAGNOSTICS removed = ROW_COUNT;
  IF removed < max_rows THEN
    RETURN QUERY UPDATE public.monitors SET deleted_at = now(), doorbell_hash = NULL WHERE monitors.ctid = ANY (old)
      RETURNING 'monitor', monitors.id, monitors.tenant_id;
  END IF;
  IF cardinality(old) > 0 THEN
    RETURN QUERY SELECT 'more', NULL::uuid, NULL::uuid;
    RETURN;
  END IF;

  -- No producer sends the registration of a scan again that long after.
  DELETE FROM public.deleted_scans WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM public.deleted_scans WHERE deleted_at < cutoff LIMIT max_rows));
  GET DIAGNOSTICS removed = ROW_COUNT;
  IF removed >= max_rows THEN RETURN QUERY SELECT 'more', NULL::uuid, NULL::uuid; END IF;
END
$$;--> statement-breakpoint

-- What is due, each delivery to one caller until its lease ends. Of at most 16 tenants, from a random one on, so that a claim costs the
-- same however many tenants wait. Tenants take turns, and a tenant's receivers take turns: at most 4
-- requests at the same time to a receiver (host and port) of a tenant, 8 of a tenant, 16 to a host. The arrays have an element for each
-- request that the caller has under way. Each webhook is asked for its first 4 by an index, so a claim costs the same however many are
-- pending; without the two settings the planner, misled by the policy's condition on the role, sorts everything that a webhook has pending.
-- Webhooks whose API key has ended are disabled first. Nothing is kept for over 30 days.
DROP FUNCTION scanstream.claim_webhook_deliveries(integer, double precision, text[], uuid[]);--> statement-breakpoint
CREATE FUNCTION scanstream.claim_webhook_deliveries(most integer, lease_seconds double precision, busy_tenants uuid[], busy_hosts text[])
RETURNS TABLE (
  id uuid, tenant_id uuid, webhook_id uuid, type text, data text, created_at text, attempts integer, failures integer,
  url text, host text, format text, secrets text
)
LANGUAGE sql VOLATILE STRICT SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
SET enable_sort = off
SET enable_bitmapscan = off
AS $$
  SELECT set_config('app.actor', 'gateway:', true);

  UPDATE public.webhooks SET enabled = false, disabled_reason = 'key_ended', updated_at = now()
  FROM public.api_keys AS maker
  WHERE maker.id = webhooks.made_by AND webhooks.made_by IS NOT NULL AND webhooks.enabled
    AND (maker.revoked_at IS NOT NULL OR maker.expires_at <= now() OR NOT maker.scopes @> ARRAY['read', 'admin']);

  WITH RECURSIVE under_way AS (
    SELECT busy.tenant_id, busy.host FROM unnest(busy_tenants, busy_hosts) AS busy (tenant_id, host)
  ), start AS (
    SELECT gen_random_uuid() AS tenant_id
  ), waiting_tenants AS (
    SELECT start.tenant_id, 0 AS turn FROM start
    UNION ALL
    SELECT coalesce((
      SELECT next.tenant_id FROM public.webhook_deliveries AS next
      WHERE next.status = 'pending' AND next.tenant_id > waiting_tenants.tenant_id ORDER BY next.tenant_id LIMIT 1
    ), (
      SELECT first.tenant_id FROM public.webhook_deliveries AS first WHERE first.status = 'pending' ORDER BY first.tenant_id LIMIT 1
    )), turn + 1 FROM waiting_tenants WHERE waiting_tenants.turn < 16
  ), due AS (
    SELECT waiting.id, waiting.next_attempt_at, hook.tenant_id, hook.host
    FROM (SELECT DISTINCT tenant_id FROM waiting_tenants) AS waiting_tenant
    -- With OFFSET the planner asks for each tenant by the index, and does not read everybody's webhooks.
    CROSS JOIN LATERAL (
      SELECT asked.id, asked.tenant_id, asked.host FROM public.webhooks AS asked
      WHERE asked.tenant_id = waiting_tenant.tenant_id AND asked.enabled OFFSET 0
    ) AS hook
    CROSS JOIN LATERAL (
      SELECT pending.id, pending.next_attempt_at FROM public.webhook_deliveries AS pending
      WHERE pending.tenant_id = hook.tenant_id AND pending.webhook_id = hook.id AND pending.status = 'pending'
        AND pending.next_attempt_at <= now()
      ORDER BY pending.next_attempt_at LIMIT 4
    ) AS waiting
  ), of_receiver AS (
    SELECT due.*, row_number() OVER (PARTITION BY due.tenant_id, due.host ORDER BY due.next_attempt_at, due.id)
      + (SELECT count(*) FROM under_way WHERE under_way.tenant_id = due.tenant_id AND under_way.host = due.host) AS receiver_turn
    FROM due
  ), of_tenant AS (
    SELECT of_receiver.*, row_number() OVER (
        PARTITION BY of_receiver.tenant_id ORDER BY of_receiver.receiver_turn, of_receiver.next_attempt_at, of_receiver.id)
      + (SELECT count(*) FROM under_way WHERE under_way.tenant_id = of_receiver.tenant_id) AS tenant_turn
    FROM of_receiver WHERE of_receiver.receiver_turn <= 4
  ), of_host AS (
    SELECT of_tenant.*, row_number() OVER (
        PARTITION BY regexp_replace(of_tenant.host, ':[0-9]+$', '') ORDER BY of_tenant.tenant_turn, of_tenant.next_attempt_at, of_tenant.id)
      + (SELECT count(*) FROM under_way
          WHERE regexp_replace(under_way.host, ':[0-9]+$', '') = regexp_replace(of_tenant.host, ':[0-9]+$', '')) AS host_turn
    FROM of_tenant WHERE of_tenant.tenant_turn <= 8
  ), chosen AS (
    SELECT free.id FROM public.webhook_deliveries AS free
    WHERE free.id = ANY (ARRAY(
      SELECT of_host.id FROM of_host WHERE of_host.host_turn <= 16
      ORDER BY of_host.tenant_turn, of_host.next_attempt_at LIMIT least(most, 100)
    ))
      AND free.status = 'pending' AND free.next_attempt_at <= now()
    FOR UPDATE SKIP LOCKED
  ), claimed AS (
    UPDATE public.webhook_deliveries AS taken
    SET attempts = taken.attempts + 1, last_attempt_at = now(), next_attempt_at = now() + make_interval(secs => lease_seconds)
    FROM chosen WHERE taken.id = chosen.id
    RETURNING taken.*
  ), pruned AS (
    DELETE FROM public.webhook_deliveries WHERE webhook_deliveries.id IN (
      SELECT old.id FROM public.webhook_deliveries AS old
      WHERE old.created_at < now() - interval '30 days' AND old.id NOT IN (SELECT chosen.id FROM chosen)
      ORDER BY old.created_at LIMIT 1000
      FOR UPDATE SKIP LOCKED
    )
  )
  SELECT claimed.id, claimed.tenant_id, claimed.webhook_id, claimed.type, claimed.data::text,
    to_char(claimed.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), claimed.attempts, claimed.failures,
    hook.url, hook.host, hook.format,
    array_to_json(CASE WHEN hook.secret_rotated_at > now() - interval '24 hours' THEN hook.secret ELSE hook.secret[1:1] END)::text
  FROM claimed JOIN public.webhooks AS hook ON hook.tenant_id = claimed.tenant_id AND hook.id = claimed.webhook_id;
$$;--> statement-breakpoint

-- As in 0010, but from the webhooks that are enabled: what waits for the others is not looked at.
CREATE OR REPLACE FUNCTION scanstream.webhook_backlog() RETURNS TABLE (pending bigint, due_in_seconds double precision)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
SET enable_sort = off
SET enable_bitmapscan = off
AS $$
  SELECT
    (SELECT count(*) FROM (
      SELECT FROM public.webhooks AS hook CROSS JOIN LATERAL (
        SELECT FROM public.webhook_deliveries AS waiting
        WHERE waiting.tenant_id = hook.tenant_id AND waiting.webhook_id = hook.id AND waiting.status = 'pending' LIMIT 10000
      ) AS waiting
      WHERE hook.enabled LIMIT 10000
    ) AS counted),
    (SELECT extract(epoch FROM min(first.next_attempt_at) - now())::double precision
      FROM public.webhooks AS hook CROSS JOIN LATERAL (
        SELECT waiting.next_attempt_at FROM public.webhook_deliveries AS waiting
        WHERE waiting.tenant_id = hook.tenant_id AND waiting.webhook_id = hook.id AND waiting.status = 'pending'
        ORDER BY waiting.next_attempt_at LIMIT 1
      ) AS first
      WHERE hook.enabled);
$$;--> statement-breakpoint
REVOKE ALL ON FUNCTION scanstream.claim_webhook_deliveries(integer, double precision, uuid[], text[]) FROM PUBLIC;--> statement-breakpoint
GRANT EXECUTE ON FUNCTION scanstream.claim_webhook_deliveries(integer, double precision, uuid[], text[]) TO scanstream_app;--> statement-breakpoint
RESET ROLE;--> statement-breakpoint
CREATE TRIGGER api_keys_maker AFTER INSERT ON public.api_keys
  FOR EACH ROW WHEN (NEW.made_by IS NOT NULL) EXECUTE FUNCTION scanstream.require_maker();--> statement-breakpoint
CREATE TRIGGER api_keys_made_keys AFTER UPDATE OF revoked_at ON public.api_keys
  FOR EACH ROW WHEN (NEW.revoked_at IS NOT NULL AND OLD.revoked_at IS NULL AND pg_trigger_depth() = 0)
  EXECUTE FUNCTION scanstream.revoke_made_keys();--> statement-breakpoint
SET LOCAL ROLE scanstream_admin;--> statement-breakpoint
REVOKE ALL ON FUNCTION scanstream.require_maker(), scanstream.revoke_made_keys() FROM PUBLIC;--> statement-breakpoint
RESET ROLE;--> statement-breakpoint
REVOKE CREATE ON SCHEMA scanstream FROM scanstream_admin;
