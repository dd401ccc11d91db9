-- What is read of a list, of a filter and of what is due is found by an index, however much is stored beside it. Each index may be
-- made beforehand with CONCURRENTLY, as docs/operate.md says: then this migration finds it, and keeps nobody from writing.
CREATE INDEX IF NOT EXISTS "scans_unfinished_of_tenant" ON "scans" USING btree ("tenant_id","created_at","id") WHERE "scans"."status" in ('pending', 'running');--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "scans_completed_of_org" ON "scans" USING btree ("tenant_id","org_url","ended_at") WHERE "scans"."status" = 'completed';--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "scans_ended_of_tenant" ON "scans" USING btree ("tenant_id","created_at","id") WHERE "scans"."ended_at" is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "changes_of_check" ON "changes" USING btree ("tenant_id","monitor_id","check","number");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "audit_events_by_time" ON "audit_events" USING btree ("tenant_id","created_at","number");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "audit_events_by_action" ON "audit_events" USING btree ("tenant_id","action","created_at","number");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "audit_events_by_actor" ON "audit_events" USING btree ("tenant_id","actor_id","created_at","number");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "audit_events_by_target" ON "audit_events" USING btree ("tenant_id","target_id","created_at","number");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "decisions_of_kind" ON "decisions" USING btree ("tenant_id","kind","created_at","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "decisions_of_check" ON "decisions" USING btree ("tenant_id","check","created_at","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "decisions_not_ended_by_time" ON "decisions" USING btree ("tenant_id","created_at","id") WHERE "decisions"."ended_at" is null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "memberships_by_time" ON "memberships" USING btree ("tenant_id","created_at","user_id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "memberships_admins" ON "memberships" USING btree ("tenant_id","user_id") WHERE "memberships"."role" = 'admin';--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "webhook_deliveries_by_status" ON "webhook_deliveries" USING btree ("tenant_id","webhook_id","status","created_at","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "monitors_present" ON "monitors" USING btree ("tenant_id","created_at","id") WHERE "monitors"."deleted_at" is null;--> statement-breakpoint
-- Rewrites the table, whose rows are few. Last of all, because nobody reads it until the end of the transaction.
ALTER TABLE "monitors" ADD COLUMN "stale_from" timestamp (3) with time zone GENERATED ALWAYS AS ((updated_at at time zone 'UTC' + make_interval(secs => greatest(3 * interval_seconds, 60))) at time zone 'UTC') STORED;--> statement-breakpoint
CREATE INDEX "monitors_due" ON "monitors" USING btree ("stale_from") WHERE "monitors"."status" = 'running' and "monitors"."stale_at" is null;--> statement-breakpoint
DROP INDEX "scans_completed";--> statement-breakpoint
DROP INDEX "audit_events_of_tenant";--> statement-breakpoint
DROP INDEX "monitors_of_tenant";--> statement-breakpoint
DROP INDEX "monitors_running";--> statement-breakpoint
DROP INDEX "webhook_deliveries_pending";--> statement-breakpoint

-- As in 0008, but the scan before is found by an index.
CREATE OR REPLACE FUNCTION scanstream.queue_scan_end() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  previous_scan uuid;
  new_count bigint;
  listed jsonb;
BEGIN
  PERFORM scanstream.queue_webhooks(NEW.tenant_id, 'scan.end', jsonb_build_object(
    'scan_id', NEW.id, 'org_url', NEW.org_url, 'status', NEW.status, 'checks_total', NEW.checks_total,
    'pass', NEW.pass, 'fail', NEW.fail, 'manual', NEW.manual,
    'started_at', scanstream.utc_text(NEW.started_at), 'ended_at', scanstream.utc_text(NEW.ended_at)
  ));
  IF NEW.status <> 'completed' OR NOT scanstream.wants_webhook(NEW.tenant_id, 'finding.created') THEN RETURN NULL; END IF;

  -- Not by coalesce(): under row-level security PostgreSQL finds nothing by an index of it, since it does not count as leakproof.
  IF NEW.org_url IS NULL THEN
    SELECT id INTO previous_scan FROM public.scans
    WHERE tenant_id = NEW.tenant_id AND org_url IS NULL AND status = 'completed' AND id <> NEW.id
    ORDER BY ended_at DESC LIMIT 1;
  ELSE
    SELECT id INTO previous_scan FROM public.scans
    WHERE tenant_id = NEW.tenant_id AND org_url = NEW.org_url AND status = 'completed' AND id <> NEW.id
    ORDER BY ended_at DESC LIMIT 1;
  END IF;

  -- One pass over both scans: a join is done row by row when the planner takes scans to be small, and a scan of 10,000 findings then
  -- took longer than a statement may.
  SELECT count(*), jsonb_agg(jsonb_build_object(
    'fingerprint', fingerprint, 'check', "check", 'severity', severity, 'resource_type', left(resource_type, 200),
    'resource_id', left(resource_id, 200), 'resource_name', left(resource_name, 200),
    'expected', left(expected, 500), 'actual', left(actual, 500)
  ) ORDER BY position) FILTER (WHERE position <= 50)
  INTO new_count, listed
  FROM (
    SELECT failing.*, row_number() OVER (
      ORDER BY array_position(ARRAY['high', 'medium', 'low'], severity), "check", fingerprint
    ) AS position
    FROM (
      SELECT findings.*, bool_or(scan_id = previous_scan) OVER (PARTITION BY fingerprint) AS was_failing
      FROM public.findings
      WHERE tenant_id = NEW.tenant_id AND scan_id IN (NEW.id, previous_scan) AND status = 'FAIL' AND NOT advisory
    ) AS failing
    WHERE scan_id = NEW.id AND was_failing IS NOT TRUE
  ) AS new_failing;

  IF new_count > 0 THEN
    PERFORM scanstream.queue_webhooks(NEW.tenant_id, 'finding.created', jsonb_build_object(
      'scan_id', NEW.id, 'previous_scan_id', previous_scan, 'org_url', NEW.org_url, 'count', new_count, 'findings', listed
    ));
  END IF;
  RETURN NULL;
END
$$;--> statement-breakpoint

-- As in 0009, but a scan's findings are read once, not for each attestation.
CREATE OR REPLACE FUNCTION scanstream.end_contradicted_attestations() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  actor constant text := coalesce(current_setting('app.actor', true), '');
BEGIN
  PERFORM set_config('app.actor', '', true);
  UPDATE public.decisions SET ended_at = now(), ended_reason = 'contradicted', ended_scan_id = NEW.id
  WHERE tenant_id = NEW.tenant_id AND kind = 'attestation' AND status <> 'FAIL'
    AND ended_at IS NULL AND (expires_at IS NULL OR expires_at >= now())
    AND created_at <= NEW.created_at AND (org_url IS NULL OR org_url = rtrim(NEW.org_url, '/'))
    AND "check" = ANY (ARRAY(
      SELECT DISTINCT findings."check" FROM public.findings
      WHERE findings.tenant_id = NEW.tenant_id AND findings.scan_id = NEW.id AND findings.status = 'FAIL' AND NOT findings.advisory));
  PERFORM set_config('app.actor', actor, true);
  RETURN NULL;
END
$$;--> statement-breakpoint

-- As in 0002: what is asked beyond one tenant belongs to scanstream_admin, with a pinned search path.
GRANT CREATE ON SCHEMA scanstream TO scanstream_admin;--> statement-breakpoint
SET LOCAL ROLE scanstream_admin;--> statement-breakpoint

-- As in 0005, but of the monitors that are running only those are looked at that are stale.
CREATE OR REPLACE FUNCTION scanstream.mark_stale_monitors()
RETURNS TABLE (
  id uuid, tenant_id uuid, log_status text, error_code text, last_look_at text, lag_seconds double precision,
  checks_total integer, pass integer, fail integer, manual integer
)
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
  UPDATE public.monitors SET stale_at = now()
  WHERE monitors.id IN (
    SELECT stale.id FROM public.monitors AS stale
    WHERE stale.status = 'running' AND stale.stale_at IS NULL AND stale.stale_from <= now()
    ORDER BY stale.stale_from LIMIT 1000
    FOR UPDATE SKIP LOCKED
  )
  RETURNING monitors.id, monitors.tenant_id, monitors.log_status, monitors.error_code,
    to_char(monitors.last_look_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), monitors.lag_seconds,
    monitors.checks_total, monitors.pass, monitors.fail, monitors.manual;
$$;--> statement-breakpoint

-- As in 0008, but the shares of hosts and tenants are those of the 500 that have been due for longest: a claim costs the same however
-- many are due. Who has its share is busy in the next claim, which therefore sees past it.
CREATE OR REPLACE FUNCTION scanstream.claim_webhook_deliveries(most integer, lease_seconds double precision, busy_hosts text[], busy_tenants uuid[])
RETURNS TABLE (
  id uuid, tenant_id uuid, webhook_id uuid, type text, data text, created_at text, attempts integer, failures integer,
  url text, host text, format text, secrets text
)
LANGUAGE sql VOLATILE STRICT SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
  WITH longest AS (
    SELECT waiting.id, waiting.next_attempt_at, hook.host, hook.tenant_id
    FROM public.webhook_deliveries AS waiting
    JOIN public.webhooks AS hook ON hook.tenant_id = waiting.tenant_id AND hook.id = waiting.webhook_id
    WHERE waiting.status = 'pending' AND waiting.next_attempt_at <= now() AND hook.enabled
      AND hook.host <> ALL (busy_hosts) AND hook.tenant_id <> ALL (busy_tenants)
    ORDER BY waiting.next_attempt_at LIMIT 500
  ), due AS (
    SELECT longest.id, longest.next_attempt_at,
      row_number() OVER (PARTITION BY longest.host ORDER BY longest.next_attempt_at, longest.id) AS of_host,
      row_number() OVER (PARTITION BY longest.tenant_id ORDER BY longest.next_attempt_at, longest.id) AS of_tenant
    FROM longest
  ), chosen AS (
    SELECT free.id FROM public.webhook_deliveries AS free
    WHERE free.id IN (
      SELECT due.id FROM due WHERE due.of_host <= 4 AND due.of_tenant <= 8 ORDER BY due.next_attempt_at LIMIT least(most, 100)
    )
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

-- As in 0008, but counts to 10,000 and no further.
CREATE OR REPLACE FUNCTION scanstream.webhook_backlog() RETURNS TABLE (pending bigint, due_in_seconds double precision)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT
    (SELECT count(*) FROM (
      SELECT FROM public.webhook_deliveries AS waiting
      JOIN public.webhooks AS hook ON hook.tenant_id = waiting.tenant_id AND hook.id = waiting.webhook_id
      WHERE waiting.status = 'pending' AND hook.enabled LIMIT 10000
    ) AS counted),
    (SELECT extract(epoch FROM waiting.next_attempt_at - now())::double precision
      FROM public.webhook_deliveries AS waiting
      JOIN public.webhooks AS hook ON hook.tenant_id = waiting.tenant_id AND hook.id = waiting.webhook_id
      WHERE waiting.status = 'pending' AND hook.enabled ORDER BY waiting.next_attempt_at LIMIT 1);
$$;--> statement-breakpoint
-- What reads as many rows as a scan has is planned by what the tables hold then. A plan made while they were empty compares each row
-- with each, and a connection keeps it.
ALTER FUNCTION scanstream.delete_scan(uuid, integer) SET plan_cache_mode = force_custom_plan;--> statement-breakpoint
ALTER FUNCTION scanstream.delete_expired(double precision, integer) SET plan_cache_mode = force_custom_plan;--> statement-breakpoint
RESET ROLE;--> statement-breakpoint
REVOKE CREATE ON SCHEMA scanstream FROM scanstream_admin;
