CREATE TABLE "webhook_deliveries" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"tenant_id" uuid NOT NULL,
	"webhook_id" uuid NOT NULL,
	"type" text NOT NULL,
	"data" jsonb NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_attempt_at" timestamp (3) with time zone,
	"last_status" integer,
	"last_error" text,
	"delivered_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "webhook_deliveries_status" CHECK ("webhook_deliveries"."status" in ('pending', 'delivered', 'dead')),
	CONSTRAINT "webhook_deliveries_delivered_at" CHECK (("webhook_deliveries"."delivered_at" is not null) = ("webhook_deliveries"."status" = 'delivered'))
);
--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "webhooks" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"tenant_id" uuid NOT NULL,
	"url" text NOT NULL,
	"host" text NOT NULL,
	"events" text[] NOT NULL,
	"format" text DEFAULT 'json' NOT NULL,
	"enabled" boolean DEFAULT true NOT NULL,
	"disabled_reason" text,
	"secret" text[] NOT NULL,
	"secret_rotated_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "webhooks_tenant_id_id" UNIQUE("tenant_id","id"),
	CONSTRAINT "webhooks_events" CHECK ("webhooks"."events" <@ array['scan.end', 'finding.created', 'finding.updated', 'monitor.error'] and cardinality("webhooks"."events") between 1 and 4),
	CONSTRAINT "webhooks_format" CHECK ("webhooks"."format" in ('json', 'slack')),
	CONSTRAINT "webhooks_disabled_reason" CHECK ("webhooks"."disabled_reason" is null or ("webhooks"."disabled_reason" = 'gone' and not "webhooks"."enabled")),
	CONSTRAINT "webhooks_url_length" CHECK (length("webhooks"."url") between 1 and 2048),
	CONSTRAINT "webhooks_secret" CHECK (cardinality("webhooks"."secret") between 1 and 2)
);
--> statement-breakpoint
ALTER TABLE "webhooks" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "monitors" ADD COLUMN "gap_from" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "monitors" ADD COLUMN "gap_to" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_webhook" FOREIGN KEY ("tenant_id","webhook_id") REFERENCES "public"."webhooks"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_of_webhook" ON "webhook_deliveries" USING btree ("tenant_id","webhook_id","created_at","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_pending" ON "webhook_deliveries" USING btree ("tenant_id","webhook_id") WHERE "webhook_deliveries"."status" = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" USING btree ("next_attempt_at") WHERE "webhook_deliveries"."status" = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_old" ON "webhook_deliveries" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "webhooks_of_tenant" ON "webhooks" USING btree ("tenant_id","created_at","id");--> statement-breakpoint
CREATE INDEX "scans_completed" ON "scans" USING btree ("tenant_id",coalesce("org_url", ''),"ended_at") WHERE "scans"."status" = 'completed';--> statement-breakpoint
CREATE POLICY "webhook_deliveries_of_tenant" ON "webhook_deliveries" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("webhook_deliveries"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("webhook_deliveries"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "webhook_deliveries_of_admin" ON "webhook_deliveries" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');--> statement-breakpoint
CREATE POLICY "webhooks_of_tenant" ON "webhooks" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("webhooks"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("webhooks"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "webhooks_of_admin" ON "webhooks" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');--> statement-breakpoint
-- What drizzle-kit does not write.
ALTER TABLE public.webhooks FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE public.webhook_deliveries FORCE ROW LEVEL SECURITY;--> statement-breakpoint
REVOKE ALL ON public.webhooks, public.webhook_deliveries FROM PUBLIC;--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON public.webhooks, public.webhook_deliveries TO scanstream_admin;--> statement-breakpoint
-- A secret is written and never read again by the application role, but for what it is about to sign (claim_webhook_deliveries).
GRANT SELECT (id, tenant_id, url, host, events, format, enabled, disabled_reason, secret_rotated_at, created_at, updated_at),
  INSERT, DELETE, UPDATE (url, host, events, format, enabled, disabled_reason, updated_at) ON public.webhooks TO scanstream_app;--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE (status, failures, next_attempt_at, last_status, last_error, delivered_at)
  ON public.webhook_deliveries TO scanstream_app;--> statement-breakpoint

CREATE OR REPLACE TRIGGER webhooks_audit AFTER INSERT OR DELETE ON public.webhooks
  FOR EACH ROW EXECUTE FUNCTION scanstream.write_audit('webhook', 'id');--> statement-breakpoint
CREATE OR REPLACE TRIGGER webhooks_updated_audit AFTER UPDATE OF url, events, format, enabled ON public.webhooks
  FOR EACH ROW EXECUTE FUNCTION scanstream.write_audit('webhook', 'id');--> statement-breakpoint
CREATE OR REPLACE TRIGGER webhooks_secret_audit AFTER UPDATE OF secret_rotated_at ON public.webhooks
  FOR EACH ROW EXECUTE FUNCTION scanstream.write_audit('webhook', 'id', 'webhook.secret_rotated');--> statement-breakpoint

-- Queues an event for every webhook of the tenant that wants it. Of a webhook at most 1,000 deliveries are pending: what comes
-- then is stored as given up, and can be replayed. With the rights of the role that writes, as everything below it.
CREATE OR REPLACE FUNCTION scanstream.queue_webhooks(wanted_tenant uuid, event text, payload jsonb) RETURNS void
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
  INSERT INTO public.webhook_deliveries (tenant_id, webhook_id, type, data, status, last_error)
  SELECT hook.tenant_id, hook.id, event, payload,
    CASE WHEN backlog.is_full THEN 'dead' ELSE 'pending' END,
    CASE WHEN backlog.is_full THEN 'Not sent: 1000 deliveries of this webhook were pending already' END
  FROM public.webhooks AS hook
  CROSS JOIN LATERAL (
    SELECT count(*) >= 1000 AS is_full FROM (
      SELECT FROM public.webhook_deliveries AS queued
      WHERE queued.tenant_id = hook.tenant_id AND queued.webhook_id = hook.id AND queued.status = 'pending'
      LIMIT 1000
    ) AS pending
  ) AS backlog
  WHERE hook.tenant_id = wanted_tenant AND hook.enabled AND event = ANY (hook.events);
$$;--> statement-breakpoint

CREATE OR REPLACE FUNCTION scanstream.wants_webhook(wanted_tenant uuid, event text) RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT EXISTS (SELECT FROM public.webhooks WHERE tenant_id = wanted_tenant AND enabled AND event = ANY (events));
$$;--> statement-breakpoint

CREATE OR REPLACE FUNCTION scanstream.utc_text(instant timestamptz) RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT to_char(instant AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'); $$;--> statement-breakpoint

-- A scan's end; and of a completed one the FAILs that the completed scan of the same org before it did not have.
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

  SELECT id INTO previous_scan FROM public.scans
  WHERE tenant_id = NEW.tenant_id AND coalesce(org_url, '') = coalesce(NEW.org_url, '') AND status = 'completed' AND id <> NEW.id
  ORDER BY ended_at DESC LIMIT 1;

  SELECT count(*), jsonb_agg(jsonb_build_object(
    'fingerprint', fingerprint, 'check', "check", 'severity', severity, 'resource_type', left(resource_type, 200),
    'resource_id', left(resource_id, 200), 'resource_name', left(resource_name, 200),
    'expected', left(expected, 500), 'actual', left(actual, 500)
  ) ORDER BY position) FILTER (WHERE position <= 50)
  INTO new_count, listed
  FROM (
    SELECT now_failing.*, row_number() OVER (
      ORDER BY array_position(ARRAY['high', 'medium', 'low'], severity), "check", fingerprint
    ) AS position
    FROM public.findings AS now_failing
    WHERE now_failing.tenant_id = NEW.tenant_id AND now_failing.scan_id = NEW.id
      AND now_failing.status = 'FAIL' AND NOT now_failing.advisory
      AND NOT EXISTS (
        SELECT FROM public.findings AS before
        WHERE before.tenant_id = NEW.tenant_id AND before.scan_id = previous_scan
          AND before.fingerprint = now_failing.fingerprint AND before.status = 'FAIL' AND NOT before.advisory
      )
  ) AS failing;

  IF new_count > 0 THEN
    PERFORM scanstream.queue_webhooks(NEW.tenant_id, 'finding.created', jsonb_build_object(
      'scan_id', NEW.id, 'previous_scan_id', previous_scan, 'org_url', NEW.org_url, 'count', new_count, 'findings', listed
    ));
  END IF;
  RETURN NULL;
END
$$;--> statement-breakpoint

-- One message for what was stored at once, however many changes that are.
CREATE OR REPLACE FUNCTION scanstream.queue_changes() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  moved record;
BEGIN
  FOR moved IN
    SELECT tenant_id, monitor_id, count(*) AS count, jsonb_agg(jsonb_build_object(
      'id', id, 'check', "check", 'fingerprint', fingerprint, 'from', from_status, 'to', to_status,
      'resource_type', left(resource_type, 200), 'resource_id', left(resource_id, 200),
      'resource_name', left(resource_name, 200), 'cause', cause,
      'actor_name', left(coalesce(explained_by -> 0 -> 'actor' ->> 'name', explained_by -> 0 -> 'actor' ->> 'login'), 200),
      'event_type', left(explained_by -> 0 ->> 'event_type', 200), 'seen_at', scanstream.utc_text(seen_at)
    ) ORDER BY number) FILTER (WHERE position <= 50) AS changes
    FROM (
      SELECT *, row_number() OVER (PARTITION BY tenant_id, monitor_id ORDER BY number) AS position
      FROM stored WHERE cause <> 'start'
    ) AS ordered
    WHERE scanstream.wants_webhook(tenant_id, 'finding.updated')
    GROUP BY tenant_id, monitor_id
  LOOP
    PERFORM scanstream.queue_webhooks(moved.tenant_id, 'finding.updated', (
      SELECT jsonb_build_object('monitor_id', id, 'org_url', org_url, 'count', moved.count, 'changes', moved.changes)
      FROM public.monitors WHERE tenant_id = moved.tenant_id AND id = moved.monitor_id
    ));
  END LOOP;
  RETURN NULL;
END
$$;--> statement-breakpoint

-- What keeps a monitor from reading, a time that it did not read, and that it went silent: its producer cannot report that.
CREATE OR REPLACE FUNCTION scanstream.queue_monitor_error() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  is_stale constant boolean := NEW.stale_at IS NOT NULL AND OLD.stale_at IS NULL;
  is_gap constant boolean := NEW.gap_from IS DISTINCT FROM OLD.gap_from;
BEGIN
  PERFORM scanstream.queue_webhooks(NEW.tenant_id, 'monitor.error', jsonb_build_object(
    'monitor_id', NEW.id, 'org_url', NEW.org_url,
    'code', CASE WHEN is_stale THEN 'stale' ELSE NEW.error_code END,
    'detail', CASE WHEN is_stale THEN 'The monitor has not reported since ' || scanstream.utc_text(NEW.updated_at)
      ELSE coalesce(NEW.error_detail, '') END,
    'gap_from', CASE WHEN is_gap THEN scanstream.utc_text(NEW.gap_from) END,
    'gap_to', CASE WHEN is_gap THEN scanstream.utc_text(NEW.gap_to) END
  ));
  RETURN NULL;
END
$$;--> statement-breakpoint

REVOKE ALL ON FUNCTION scanstream.queue_webhooks(uuid, text, jsonb), scanstream.wants_webhook(uuid, text),
  scanstream.utc_text(timestamptz), scanstream.queue_scan_end(), scanstream.queue_changes(), scanstream.queue_monitor_error() FROM PUBLIC;--> statement-breakpoint
GRANT EXECUTE ON FUNCTION scanstream.queue_webhooks(uuid, text, jsonb), scanstream.wants_webhook(uuid, text),
  scanstream.utc_text(timestamptz) TO scanstream_app, scanstream_admin;--> statement-breakpoint

CREATE OR REPLACE TRIGGER scans_ended_webhooks AFTER UPDATE OF status ON public.scans
  FOR EACH ROW WHEN (OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL)
  EXECUTE FUNCTION scanstream.queue_scan_end();--> statement-breakpoint
CREATE OR REPLACE TRIGGER changes_webhooks AFTER INSERT ON public.changes
  REFERENCING NEW TABLE AS stored FOR EACH STATEMENT EXECUTE FUNCTION scanstream.queue_changes();--> statement-breakpoint
CREATE OR REPLACE TRIGGER monitors_error_webhooks AFTER UPDATE OF error_code, gap_from, stale_at ON public.monitors
  FOR EACH ROW WHEN (
    (NEW.stale_at IS NOT NULL AND OLD.stale_at IS NULL AND NEW.deleted_at IS NULL)
    OR (NEW.error_code IS NOT NULL
      AND (NEW.error_code IS DISTINCT FROM OLD.error_code OR (NEW.gap_from IS NOT NULL AND NEW.gap_from IS DISTINCT FROM OLD.gap_from)))
  )
  EXECUTE FUNCTION scanstream.queue_monitor_error();--> statement-breakpoint

-- As in 0002: what is asked beyond one tenant belongs to scanstream_admin, with a pinned search path.
GRANT CREATE ON SCHEMA scanstream TO scanstream_admin;--> statement-breakpoint
SET LOCAL ROLE scanstream_admin;--> statement-breakpoint

-- What is due, each delivery to one caller until its lease ends. At most 4 of a host and 8 of a tenant, and none of those that the
-- caller is busy with already, so that receivers that are slow or down leave room for the others. Nothing is kept for over 30 days.
CREATE FUNCTION scanstream.claim_webhook_deliveries(most integer, lease_seconds double precision, busy_hosts text[], busy_tenants uuid[])
RETURNS TABLE (
  id uuid, tenant_id uuid, webhook_id uuid, type text, data text, created_at text, attempts integer, failures integer,
  url text, host text, format text, secrets text
)
LANGUAGE sql VOLATILE STRICT SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
  WITH due AS (
    SELECT waiting.id, waiting.next_attempt_at,
      row_number() OVER (PARTITION BY hook.host ORDER BY waiting.next_attempt_at, waiting.id) AS of_host,
      row_number() OVER (PARTITION BY hook.tenant_id ORDER BY waiting.next_attempt_at, waiting.id) AS of_tenant
    FROM public.webhook_deliveries AS waiting
    JOIN public.webhooks AS hook ON hook.tenant_id = waiting.tenant_id AND hook.id = waiting.webhook_id
    WHERE waiting.status = 'pending' AND waiting.next_attempt_at <= now() AND hook.enabled
      AND hook.host <> ALL (busy_hosts) AND hook.tenant_id <> ALL (busy_tenants)
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

-- How many are pending, and in how many seconds the first of them is due: below 0 it is overdue; null: none is pending.
CREATE FUNCTION scanstream.webhook_backlog() RETURNS TABLE (pending bigint, due_in_seconds double precision)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT count(*), extract(epoch FROM min(waiting.next_attempt_at) - now())::double precision
  FROM public.webhook_deliveries AS waiting
  JOIN public.webhooks AS hook ON hook.tenant_id = waiting.tenant_id AND hook.id = waiting.webhook_id
  WHERE waiting.status = 'pending' AND hook.enabled;
$$;--> statement-breakpoint

-- Of the transaction's tenant. The secret before it goes on to sign for a day.
CREATE FUNCTION scanstream.rotate_webhook_secret(wanted_id uuid, new_secret text) RETURNS SETOF uuid
LANGUAGE sql VOLATILE STRICT SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
  UPDATE public.webhooks SET secret = ARRAY[new_secret, secret[1]], secret_rotated_at = now(), updated_at = now()
  WHERE id = wanted_id AND tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid
  RETURNING id;
$$;--> statement-breakpoint

REVOKE ALL ON FUNCTION scanstream.claim_webhook_deliveries(integer, double precision, text[], uuid[]),
  scanstream.webhook_backlog(), scanstream.rotate_webhook_secret(uuid, text) FROM PUBLIC;--> statement-breakpoint
GRANT EXECUTE ON FUNCTION scanstream.claim_webhook_deliveries(integer, double precision, text[], uuid[]),
  scanstream.webhook_backlog(), scanstream.rotate_webhook_secret(uuid, text) TO scanstream_app;--> statement-breakpoint
RESET ROLE;--> statement-breakpoint
REVOKE CREATE ON SCHEMA scanstream FROM scanstream_admin;
