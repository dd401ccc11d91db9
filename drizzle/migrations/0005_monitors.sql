CREATE TABLE "changes" (
	"tenant_id" uuid NOT NULL,
	"monitor_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"number" bigint NOT NULL,
	"check" text NOT NULL,
	"fingerprint" text NOT NULL,
	"resource_type" text NOT NULL,
	"resource_id" text NOT NULL,
	"resource_name" text NOT NULL,
	"from_status" text,
	"from_reason" text,
	"to_status" text,
	"to_reason" text,
	"actual" text NOT NULL,
	"seen_at" timestamp (3) with time zone NOT NULL,
	"cause" text NOT NULL,
	"explained_by" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "changes_pkey" PRIMARY KEY("tenant_id","monitor_id","id"),
	CONSTRAINT "changes_from" CHECK ("changes"."from_status" in ('PASS', 'FAIL', 'MANUAL')),
	CONSTRAINT "changes_to" CHECK ("changes"."to_status" in ('PASS', 'FAIL', 'MANUAL')),
	CONSTRAINT "changes_from_or_to" CHECK ("changes"."from_status" is not null or "changes"."to_status" is not null),
	CONSTRAINT "changes_cause" CHECK ("changes"."cause" in ('log', 'reconciliation', 'start'))
);
--> statement-breakpoint
ALTER TABLE "changes" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "monitors" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"org_url" text NOT NULL,
	"client_id" text,
	"status" text DEFAULT 'running' NOT NULL,
	"interval_seconds" integer NOT NULL,
	"checks_total" integer DEFAULT 0 NOT NULL,
	"pass" integer DEFAULT 0 NOT NULL,
	"fail" integer DEFAULT 0 NOT NULL,
	"manual" integer DEFAULT 0 NOT NULL,
	"log_status" text DEFAULT 'unknown' NOT NULL,
	"error_code" text,
	"error_detail" text,
	"last_look_at" timestamp (3) with time zone,
	"lag_seconds" double precision,
	"last_change_at" timestamp (3) with time zone,
	"last_change_number" bigint DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"stale_at" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone,
	"deleted_at" timestamp (3) with time zone,
	"doorbell_hash" text,
	"doorbell_rung_at" timestamp (3) with time zone,
	CONSTRAINT "monitors_tenant_id_id" UNIQUE("tenant_id","id"),
	CONSTRAINT "monitors_status" CHECK ("monitors"."status" in ('running', 'stopped', 'ended')),
	CONSTRAINT "monitors_log_status" CHECK ("monitors"."log_status" in ('reading', 'unreadable', 'unknown')),
	CONSTRAINT "monitors_ended_at" CHECK (("monitors"."ended_at" is not null) = ("monitors"."status" = 'ended')),
	CONSTRAINT "monitors_deleted_at" CHECK ("monitors"."deleted_at" is null or "monitors"."ended_at" is not null),
	CONSTRAINT "monitors_counts" CHECK (least("monitors"."checks_total", "monitors"."pass", "monitors"."fail", "monitors"."manual") >= 0),
	CONSTRAINT "monitors_doorbell_hash_is_sha256_hex" CHECK ("monitors"."doorbell_hash" ~ '^[0-9a-f]{64}$')
);
--> statement-breakpoint
ALTER TABLE "monitors" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "changes" ADD CONSTRAINT "changes_monitor" FOREIGN KEY ("tenant_id","monitor_id") REFERENCES "public"."monitors"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "monitors" ADD CONSTRAINT "monitors_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "changes_of_monitor" ON "changes" USING btree ("tenant_id","monitor_id","number");--> statement-breakpoint
CREATE INDEX "changes_of_finding" ON "changes" USING btree ("tenant_id","monitor_id","fingerprint","number");--> statement-breakpoint
CREATE INDEX "monitors_of_tenant" ON "monitors" USING btree ("tenant_id","created_at","id");--> statement-breakpoint
CREATE INDEX "monitors_running" ON "monitors" USING btree ("updated_at") WHERE "monitors"."status" = 'running' and "monitors"."stale_at" is null;--> statement-breakpoint
CREATE POLICY "changes_of_tenant" ON "changes" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("changes"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("changes"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "changes_of_admin" ON "changes" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');--> statement-breakpoint
CREATE POLICY "monitors_of_tenant" ON "monitors" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("monitors"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("monitors"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "monitors_of_admin" ON "monitors" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');--> statement-breakpoint
-- What drizzle-kit does not write.
ALTER TABLE public.monitors FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE public.changes FORCE ROW LEVEL SECURITY;--> statement-breakpoint
REVOKE ALL ON public.monitors, public.changes FROM PUBLIC;--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON public.monitors, public.changes TO scanstream_admin;--> statement-breakpoint
-- A deleted monitor keeps its row, so that its id stays used; its changes go. A change is never changed.
GRANT SELECT, INSERT, UPDATE ON public.monitors TO scanstream_app;--> statement-breakpoint
GRANT SELECT, INSERT, DELETE ON public.changes TO scanstream_app;--> statement-breakpoint

-- As in 0002: what is asked beyond one tenant belongs to scanstream_admin, with a pinned search path.
GRANT CREATE ON SCHEMA scanstream TO scanstream_admin;--> statement-breakpoint
SET LOCAL ROLE scanstream_admin;--> statement-breakpoint

CREATE OR REPLACE FUNCTION scanstream.find_doorbell(monitor_id uuid)
RETURNS TABLE (tenant_id uuid, doorbell_hash text)
LANGUAGE sql STABLE STRICT SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT found.tenant_id, found.doorbell_hash FROM public.monitors AS found
  WHERE found.id = monitor_id AND found.doorbell_hash IS NOT NULL AND found.ended_at IS NULL;
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
  WHERE monitors.id IN (
    SELECT stale.id FROM public.monitors AS stale
    WHERE stale.status = 'running' AND stale.stale_at IS NULL
      AND stale.updated_at <= now() - make_interval(secs => greatest(3 * stale.interval_seconds, 60))
    ORDER BY stale.updated_at LIMIT 1000
    FOR UPDATE SKIP LOCKED
  )
  RETURNING monitors.id, monitors.tenant_id, monitors.log_status, monitors.error_code,
    to_char(monitors.last_look_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), monitors.lag_seconds,
    monitors.checks_total, monitors.pass, monitors.fail, monitors.manual;
$$;--> statement-breakpoint

REVOKE ALL ON FUNCTION scanstream.find_doorbell(uuid), scanstream.mark_stale_monitors() FROM PUBLIC;--> statement-breakpoint
GRANT EXECUTE ON FUNCTION scanstream.find_doorbell(uuid), scanstream.mark_stale_monitors() TO scanstream_app;--> statement-breakpoint
RESET ROLE;--> statement-breakpoint
REVOKE CREATE ON SCHEMA scanstream FROM scanstream_admin;
