-- The roles that every transaction takes on, see policies.ts. They belong to the cluster, so they may be there already (another
-- database's, or made beforehand by an administrator where the owner may not create roles), and may be made by another
-- database's migration at this moment. The owner becomes a member, so that it can take them on; it needs no superuser.
DO $$
DECLARE
  wanted text;
  membership text := CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END;
BEGIN
  FOREACH wanted IN ARRAY ARRAY['scanstream_app', 'scanstream_admin'] LOOP
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = wanted) THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
      EXCEPTION
        WHEN duplicate_object OR unique_violation THEN
          NULL;
        WHEN insufficient_privilege THEN
          RAISE EXCEPTION '% may not create roles: run % as an administrator', current_user,
            (SELECT string_agg(format('CREATE ROLE %1$I NOLOGIN; GRANT %1$I TO %2$I;', missing, current_user), ' ')
              FROM unnest(ARRAY['scanstream_app', 'scanstream_admin']) AS missing
              WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = missing))
            USING ERRCODE = 'insufficient_privilege';
      END;
    END IF;

    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = wanted AND (rolsuper OR rolbypassrls)) THEN
      RAISE EXCEPTION 'the role % is a superuser or has BYPASSRLS, so it would see every tenant: run ALTER ROLE % NOSUPERUSER NOBYPASSRLS',
        wanted, wanted USING ERRCODE = 'invalid_role_specification';
    END IF;

    IF NOT pg_catalog.pg_has_role(current_user, wanted, membership) THEN
      BEGIN
        EXECUTE format('GRANT %I TO CURRENT_USER', wanted);
      EXCEPTION
        WHEN unique_violation THEN
          NULL;
        WHEN insufficient_privilege THEN
          RAISE EXCEPTION '% may not take on the role %: run GRANT % TO % as an administrator',
            current_user, wanted, wanted, quote_ident(current_user) USING ERRCODE = 'insufficient_privilege';
      END;
    END IF;
  END LOOP;
END
$$;
--> statement-breakpoint
CREATE TABLE "decisions" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"tenant_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"check" text NOT NULL,
	"resource" text,
	"status" text,
	"reason" text NOT NULL,
	"author_kind" text NOT NULL,
	"author_id" text NOT NULL,
	"author_name" text NOT NULL,
	"org_url" text,
	"expires" text,
	"expires_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp (3) with time zone,
	"ended_reason" text,
	"ended_by" text,
	"ended_scan_id" uuid,
	CONSTRAINT "decisions_ended_at" CHECK (("decisions"."ended_at" is null) = ("decisions"."ended_reason" is null))
);
--> statement-breakpoint
ALTER TABLE "decisions" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
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
	"from_waived" boolean NOT NULL,
	"to_waived" boolean NOT NULL,
	"advisory" boolean DEFAULT false NOT NULL,
	"waiver_reason" text,
	"waiver_by" text,
	"waiver_expires" text,
	"attestation_status" text,
	"attestation_reason" text,
	"attestation_by" text,
	"attestation_expires" text,
	"expected" text DEFAULT '' NOT NULL,
	"actual" text NOT NULL,
	"to_pass" text,
	"rule_status" text NOT NULL,
	"rule_reason" text,
	"rule_severity" text NOT NULL,
	"seen_at" timestamp (3) with time zone NOT NULL,
	"not_before" timestamp (3) with time zone,
	"cause" text NOT NULL,
	"explained_by" jsonb NOT NULL,
	"also" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "changes_pkey" PRIMARY KEY("tenant_id","monitor_id","id")
);
--> statement-breakpoint
ALTER TABLE "changes" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE TABLE "monitors" (
	"id" uuid NOT NULL,
	"tenant_id" uuid NOT NULL,
	"org_url" text NOT NULL,
	"origin" text NOT NULL,
	"client_id" text,
	"benchmark" text,
	"status" text DEFAULT 'running' NOT NULL,
	"interval_seconds" integer NOT NULL,
	"checks_total" integer DEFAULT 0 NOT NULL,
	"pass" integer DEFAULT 0 NOT NULL,
	"fail" integer DEFAULT 0 NOT NULL,
	"manual" integer DEFAULT 0 NOT NULL,
	"not_applicable" integer DEFAULT 0 NOT NULL,
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
	"stale_from" timestamp (3) with time zone GENERATED ALWAYS AS ((updated_at at time zone 'UTC' + make_interval(secs => greatest(3 * interval_seconds, 60))) at time zone 'UTC') STORED,
	"stale_at" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "monitors_tenant_id_id" UNIQUE("tenant_id","id"),
	CONSTRAINT "monitors_ended_at" CHECK (("monitors"."ended_at" is not null) = ("monitors"."status" = 'ended'))
);
--> statement-breakpoint
ALTER TABLE "monitors" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE TABLE "observations" (
	"tenant_id" uuid NOT NULL,
	"organization_id" uuid NOT NULL,
	"run_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"benchmark" text,
	"began" timestamp (3) with time zone NOT NULL,
	"known_from" timestamp (3) with time zone NOT NULL,
	"known_to" timestamp (3) with time zone NOT NULL,
	"results" jsonb NOT NULL,
	"moved_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "observations_pkey" PRIMARY KEY("tenant_id","run_id","known_from"),
	CONSTRAINT "observations_times" CHECK ("observations"."known_from" <= "observations"."known_to")
);
--> statement-breakpoint
ALTER TABLE "observations" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE TABLE "organizations" (
	"tenant_id" uuid NOT NULL,
	"id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"org_url" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "organizations_pkey" PRIMARY KEY("tenant_id","id"),
	CONSTRAINT "organizations_org_url" UNIQUE("tenant_id","org_url")
);
--> statement-breakpoint
ALTER TABLE "organizations" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE TABLE "api_keys" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"prefix" text NOT NULL,
	"hash" text NOT NULL,
	"scopes" text[] DEFAULT '{"read","publish"}' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	"last_used_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "api_keys" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE TABLE "audit_events" (
	"number" bigint PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY (sequence name "audit_events_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"tenant_id" uuid NOT NULL,
	"actor_kind" text NOT NULL,
	"actor_id" text NOT NULL,
	"action" text NOT NULL,
	"target_type" text NOT NULL,
	"target_id" text NOT NULL,
	"detail" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "audit_events" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE TABLE "memberships" (
	"tenant_id" uuid NOT NULL,
	"user_id" text NOT NULL,
	"role" text DEFAULT 'operator' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"seen_at" timestamp (3) with time zone,
	CONSTRAINT "memberships_pkey" PRIMARY KEY("tenant_id","user_id")
);
--> statement-breakpoint
ALTER TABLE "memberships" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE TABLE "tenants" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "tenants" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE TABLE "published" (
	"tenant_id" uuid NOT NULL,
	"channel" text NOT NULL,
	"producer" text NOT NULL,
	"last_n" bigint DEFAULT 0 NOT NULL,
	"published_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"lost_at" timestamp (3) with time zone,
	CONSTRAINT "published_pkey" PRIMARY KEY("tenant_id","channel","producer")
);
--> statement-breakpoint
ALTER TABLE "published" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE TABLE "findings" (
	"tenant_id" uuid NOT NULL,
	"scan_id" uuid NOT NULL,
	"fingerprint" text NOT NULL,
	"check" text NOT NULL,
	"status" text NOT NULL,
	"reason" text,
	"severity" text NOT NULL,
	"resource_type" text DEFAULT '' NOT NULL,
	"resource_id" text DEFAULT '' NOT NULL,
	"resource_name" text NOT NULL,
	"expected" text DEFAULT '' NOT NULL,
	"actual" text DEFAULT '' NOT NULL,
	"detail" text NOT NULL,
	"automated" text,
	"cause" text,
	"notes" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"advisory" boolean DEFAULT false NOT NULL,
	"waiver_reason" text,
	"waiver_by" text,
	"waiver_expires" text,
	"attestation_status" text,
	"attestation_reason" text,
	"attestation_by" text,
	"attestation_expires" text,
	"size" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "findings_pkey" PRIMARY KEY("tenant_id","scan_id","fingerprint")
);
--> statement-breakpoint
ALTER TABLE "findings" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE TABLE "scan_reports" (
	"tenant_id" uuid NOT NULL,
	"scan_id" uuid NOT NULL,
	"body" "bytea" NOT NULL,
	"sha256" text NOT NULL,
	"size_bytes" integer NOT NULL,
	CONSTRAINT "scan_reports_pkey" PRIMARY KEY("tenant_id","scan_id")
);
--> statement-breakpoint
ALTER TABLE "scan_reports" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE TABLE "scans" (
	"id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"tenant_id" uuid NOT NULL,
	"org_url" text,
	"origin" text,
	"client_id" text,
	"benchmark" text,
	"status" text DEFAULT 'pending' NOT NULL,
	"checks_total" integer DEFAULT 0 NOT NULL,
	"checks_done" integer DEFAULT 0 NOT NULL,
	"pass" integer DEFAULT 0 NOT NULL,
	"fail" integer DEFAULT 0 NOT NULL,
	"manual" integer DEFAULT 0 NOT NULL,
	"not_applicable" integer DEFAULT 0 NOT NULL,
	"cancel_requested" boolean DEFAULT false NOT NULL,
	"created_by" text,
	"registration" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "scans_tenant_id_id" UNIQUE("tenant_id","id"),
	CONSTRAINT "scans_ended_at" CHECK (("scans"."ended_at" is not null) = ("scans"."status" not in ('pending', 'running')))
);
--> statement-breakpoint
ALTER TABLE "scans" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE "decisions" ADD CONSTRAINT "decisions_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "changes" ADD CONSTRAINT "changes_monitor" FOREIGN KEY ("tenant_id","monitor_id") REFERENCES "public"."monitors"("tenant_id","id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "monitors" ADD CONSTRAINT "monitors_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "observations" ADD CONSTRAINT "observations_organization" FOREIGN KEY ("tenant_id","organization_id") REFERENCES "public"."organizations"("tenant_id","id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "organizations" ADD CONSTRAINT "organizations_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "audit_events" ADD CONSTRAINT "audit_events_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "published" ADD CONSTRAINT "published_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "findings" ADD CONSTRAINT "findings_scan" FOREIGN KEY ("tenant_id","scan_id") REFERENCES "public"."scans"("tenant_id","id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "scan_reports" ADD CONSTRAINT "scan_reports_scan" FOREIGN KEY ("tenant_id","scan_id") REFERENCES "public"."scans"("tenant_id","id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "scans" ADD CONSTRAINT "scans_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
CREATE UNIQUE INDEX "decisions_not_ended" ON "decisions" USING btree ("tenant_id","kind","check",md5(coalesce("resource", '')),md5(coalesce("org_url", ''))) WHERE "decisions"."ended_at" is null;
--> statement-breakpoint
CREATE INDEX "decisions_of_tenant" ON "decisions" USING btree ("tenant_id","created_at","id");
--> statement-breakpoint
CREATE INDEX "decisions_of_kind" ON "decisions" USING btree ("tenant_id","kind","created_at","id");
--> statement-breakpoint
CREATE INDEX "decisions_of_check" ON "decisions" USING btree ("tenant_id","check","created_at","id");
--> statement-breakpoint
CREATE INDEX "decisions_not_ended_by_time" ON "decisions" USING btree ("tenant_id","created_at","id") WHERE "decisions"."ended_at" is null;
--> statement-breakpoint
CREATE UNIQUE INDEX "changes_of_monitor" ON "changes" USING btree ("tenant_id","monitor_id","number");
--> statement-breakpoint
CREATE INDEX "changes_of_finding" ON "changes" USING btree ("tenant_id","monitor_id","fingerprint","number");
--> statement-breakpoint
CREATE INDEX "changes_of_check" ON "changes" USING btree ("tenant_id","monitor_id","check","number");
--> statement-breakpoint
CREATE INDEX "monitors_of_tenant" ON "monitors" USING btree ("tenant_id","created_at","id");
--> statement-breakpoint
CREATE INDEX "monitors_of_organization" ON "monitors" USING btree ("tenant_id","origin");
--> statement-breakpoint
CREATE INDEX "monitors_silent_due" ON "monitors" USING btree ("stale_from") WHERE "monitors"."status" = 'running' and "monitors"."stale_at" is null;
--> statement-breakpoint
CREATE INDEX "monitors_ended_due" ON "monitors" USING btree ("ended_at") WHERE "monitors"."ended_at" is not null;
--> statement-breakpoint
CREATE INDEX "observations_by_time" ON "observations" USING btree ("tenant_id","organization_id","known_to");
--> statement-breakpoint
CREATE INDEX "observations_of_kind" ON "observations" USING btree ("tenant_id","organization_id","kind","known_to");
--> statement-breakpoint
CREATE INDEX "observations_due" ON "observations" USING btree ("known_to");
--> statement-breakpoint
CREATE INDEX "organizations_of_tenant" ON "organizations" USING btree ("tenant_id","created_at","id");
--> statement-breakpoint
CREATE UNIQUE INDEX "api_keys_hash" ON "api_keys" USING btree ("hash");
--> statement-breakpoint
CREATE INDEX "api_keys_of_tenant" ON "api_keys" USING btree ("tenant_id","created_at","id");
--> statement-breakpoint
CREATE INDEX "audit_events_by_time" ON "audit_events" USING btree ("tenant_id","created_at","number");
--> statement-breakpoint
CREATE INDEX "audit_events_by_action" ON "audit_events" USING btree ("tenant_id","action","created_at","number");
--> statement-breakpoint
CREATE INDEX "audit_events_by_actor" ON "audit_events" USING btree ("tenant_id","actor_id","created_at","number");
--> statement-breakpoint
CREATE INDEX "audit_events_by_target" ON "audit_events" USING btree ("tenant_id","target_id","created_at","number");
--> statement-breakpoint
CREATE INDEX "memberships_by_time" ON "memberships" USING btree ("tenant_id","created_at","user_id");
--> statement-breakpoint
CREATE INDEX "memberships_admins" ON "memberships" USING btree ("tenant_id","user_id") WHERE "memberships"."role" = 'admin';
--> statement-breakpoint
CREATE INDEX "findings_of_scan" ON "findings" USING btree ("tenant_id","scan_id","created_at","fingerprint");
--> statement-breakpoint
CREATE INDEX "scans_of_tenant" ON "scans" USING btree ("tenant_id","created_at","id");
--> statement-breakpoint
CREATE INDEX "scans_silent_due" ON "scans" USING btree ("updated_at") WHERE "scans"."status" in ('pending', 'running');
--> statement-breakpoint
CREATE INDEX "scans_unfinished_of_tenant" ON "scans" USING btree ("tenant_id","created_at","id") WHERE "scans"."status" in ('pending', 'running');
--> statement-breakpoint
CREATE INDEX "scans_ended_due" ON "scans" USING btree ("ended_at") WHERE "scans"."ended_at" is not null;
--> statement-breakpoint
CREATE POLICY "decisions_of_tenant" ON "decisions" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("decisions"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("decisions"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));
--> statement-breakpoint
CREATE POLICY "decisions_of_admin" ON "decisions" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');
--> statement-breakpoint
CREATE POLICY "changes_of_tenant" ON "changes" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("changes"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("changes"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));
--> statement-breakpoint
CREATE POLICY "changes_of_admin" ON "changes" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');
--> statement-breakpoint
CREATE POLICY "monitors_of_tenant" ON "monitors" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("monitors"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("monitors"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));
--> statement-breakpoint
CREATE POLICY "monitors_of_admin" ON "monitors" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');
--> statement-breakpoint
CREATE POLICY "observations_of_tenant" ON "observations" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("observations"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("observations"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));
--> statement-breakpoint
CREATE POLICY "observations_of_admin" ON "observations" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');
--> statement-breakpoint
CREATE POLICY "organizations_of_tenant" ON "organizations" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("organizations"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("organizations"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));
--> statement-breakpoint
CREATE POLICY "organizations_of_admin" ON "organizations" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');
--> statement-breakpoint
CREATE POLICY "api_keys_of_tenant" ON "api_keys" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("api_keys"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("api_keys"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));
--> statement-breakpoint
CREATE POLICY "api_keys_of_admin" ON "api_keys" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');
--> statement-breakpoint
CREATE POLICY "audit_events_of_tenant" ON "audit_events" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("audit_events"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("audit_events"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));
--> statement-breakpoint
CREATE POLICY "audit_events_of_admin" ON "audit_events" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');
--> statement-breakpoint
CREATE POLICY "memberships_of_tenant" ON "memberships" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("memberships"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("memberships"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));
--> statement-breakpoint
CREATE POLICY "memberships_of_admin" ON "memberships" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');
--> statement-breakpoint
CREATE POLICY "tenants_of_tenant" ON "tenants" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("tenants"."id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("tenants"."id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));
--> statement-breakpoint
CREATE POLICY "tenants_of_admin" ON "tenants" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');
--> statement-breakpoint
CREATE POLICY "published_of_tenant" ON "published" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("published"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("published"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));
--> statement-breakpoint
CREATE POLICY "published_of_admin" ON "published" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');
--> statement-breakpoint
CREATE POLICY "findings_of_tenant" ON "findings" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("findings"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("findings"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));
--> statement-breakpoint
CREATE POLICY "findings_of_admin" ON "findings" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');
--> statement-breakpoint
CREATE POLICY "scan_reports_of_tenant" ON "scan_reports" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("scan_reports"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("scan_reports"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));
--> statement-breakpoint
CREATE POLICY "scan_reports_of_admin" ON "scan_reports" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');
--> statement-breakpoint
CREATE POLICY "scans_of_tenant" ON "scans" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("scans"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("scans"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));
--> statement-breakpoint
CREATE POLICY "scans_of_admin" ON "scans" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');
--> statement-breakpoint
-- Without FORCE the owner of a table, which DATABASE_URL usually is, would see all rows whenever it forgot to take on a role.
ALTER TABLE public.tenants FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE public.memberships FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE public.api_keys FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE public.scans FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE public.findings FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE public.monitors FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE public.changes FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE public.audit_events FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE public.scan_reports FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE public.decisions FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE public.organizations FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE public.observations FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE public.published FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
-- The body is compressed already.
ALTER TABLE public.scan_reports ALTER COLUMN body SET STORAGE EXTERNAL;
--> statement-breakpoint
GRANT USAGE ON SCHEMA public, scanstream TO scanstream_app, scanstream_admin;
--> statement-breakpoint
GRANT SELECT ON scanstream.migrations TO scanstream_app, scanstream_admin;
--> statement-breakpoint
REVOKE ALL ON public.tenants, public.memberships, public.api_keys, public.scans, public.findings, public.monitors,
  public.changes, public.audit_events, public.scan_reports,
  public.decisions, public.organizations, public.observations,
  public.published FROM PUBLIC;
--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON public.tenants, public.memberships, public.api_keys, public.scans,
  public.findings, public.monitors, public.changes, public.scan_reports,
  public.decisions, public.organizations, public.observations,
  public.published TO scanstream_admin;
--> statement-breakpoint
-- The audit trail is append-only for both roles; a tenant's deletion takes its trail with it. Number and time of an audit event
-- come from the database: a number that was written would keep the next change from being made.
GRANT SELECT, INSERT (tenant_id, actor_kind, actor_id, action, target_type, target_id, detail)
  ON public.audit_events TO scanstream_app, scanstream_admin;
--> statement-breakpoint
-- The application reads who belongs to a tenant, and adds and removes its members.
GRANT SELECT ON public.tenants, public.memberships TO scanstream_app;
--> statement-breakpoint
GRANT INSERT, UPDATE (role, seen_at), DELETE ON public.memberships TO scanstream_app;
--> statement-breakpoint
GRANT UPDATE (name) ON public.tenants TO scanstream_app;
--> statement-breakpoint
-- The application never needs a key's hash.
GRANT SELECT (id, tenant_id, name, prefix, created_at, revoked_at, last_used_at, scopes, expires_at),
  INSERT (tenant_id, name, prefix, hash, scopes, expires_at) ON public.api_keys TO scanstream_app;
--> statement-breakpoint
-- A change is never changed.
GRANT SELECT, INSERT, UPDATE, DELETE ON public.scans, public.findings, public.monitors, public.published TO scanstream_app;
--> statement-breakpoint
GRANT SELECT, INSERT, DELETE ON public.changes TO scanstream_app;
--> statement-breakpoint
-- What was stored of a report is not changed afterwards.
GRANT SELECT, INSERT ON public.scan_reports TO scanstream_app;
--> statement-breakpoint
-- What was decided, and by whom, is never changed: it ends.
GRANT SELECT, INSERT, UPDATE (ended_at, ended_reason, ended_by, ended_scan_id) ON public.decisions TO scanstream_app;
--> statement-breakpoint
-- An observation of a monitor grows; which run and organization it is of never changes.
GRANT SELECT, INSERT, UPDATE (known_to, results, moved_at), DELETE ON public.observations TO scanstream_app;
--> statement-breakpoint
GRANT SELECT, INSERT, DELETE ON public.organizations TO scanstream_app;
--> statement-breakpoint
-- Fail a transaction whose caller lacks the authority, with a SQLSTATE that nothing else has.
CREATE FUNCTION scanstream.require_authority(wanted_tenant uuid, kind text, wanted_id text, wanted text[]) RETURNS void
LANGUAGE plpgsql STABLE
AS $$
DECLARE
  held text[];
BEGIN
  IF kind = 'user' THEN
    SELECT array[member.role] INTO held FROM public.memberships AS member
    WHERE member.tenant_id = wanted_tenant AND member.user_id = wanted_id;
    IF held && wanted THEN RETURN; END IF;
  ELSE
    SELECT found.scopes INTO held FROM public.api_keys AS found
    WHERE found.tenant_id = wanted_tenant AND found.id = wanted_id::uuid
      AND found.revoked_at IS NULL AND (found.expires_at IS NULL OR found.expires_at > now());
    -- An array contains the empty one, which stands for what no key may.
    IF held @> wanted AND cardinality(wanted) > 0 THEN RETURN; END IF;
  END IF;
  RAISE EXCEPTION '%', coalesce(array_to_string(held, ','), '') USING ERRCODE = 'SS403';
END
$$;
--> statement-breakpoint
REVOKE ALL ON FUNCTION scanstream.require_authority(uuid, text, text, text[]) FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION scanstream.require_authority(uuid, text, text, text[]) TO scanstream_app;
--> statement-breakpoint
-- What is asked beyond one tenant belongs to scanstream_admin, and runs with its rights.
GRANT CREATE ON SCHEMA scanstream TO scanstream_admin;
--> statement-breakpoint
SET LOCAL ROLE scanstream_admin;
--> statement-breakpoint
CREATE FUNCTION scanstream.find_api_key(wanted_hash text)
RETURNS TABLE (id uuid, tenant_id uuid, name text, scopes text[], expires_at timestamptz, is_valid boolean)
LANGUAGE sql VOLATILE STRICT SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
  WITH touched AS (
    UPDATE public.api_keys SET last_used_at = now()
    WHERE api_keys.id = (
      SELECT stale.id FROM public.api_keys AS stale
      WHERE stale.hash = wanted_hash AND stale.revoked_at IS NULL AND (stale.expires_at IS NULL OR stale.expires_at > now())
        AND (stale.last_used_at IS NULL OR stale.last_used_at < now() - interval '1 minute')
      -- Many lookups of one key at once: one of them writes, none waits.
      FOR UPDATE SKIP LOCKED
    )
  )
  SELECT found.id, found.tenant_id, found.name, found.scopes, found.expires_at,
    found.revoked_at IS NULL AND (found.expires_at IS NULL OR found.expires_at > now())
  FROM public.api_keys AS found WHERE found.hash = wanted_hash;
$$;
--> statement-breakpoint
-- Only in the transaction's tenant. The application cannot update the column itself, so nothing makes a revoked key valid again.
CREATE FUNCTION scanstream.revoke_api_key(wanted_id uuid) RETURNS SETOF timestamptz
LANGUAGE sql VOLATILE STRICT SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
  UPDATE public.api_keys SET revoked_at = now()
  WHERE id = wanted_id AND tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid AND revoked_at IS NULL
  RETURNING revoked_at;
$$;
--> statement-breakpoint
-- One step of a tenant's deletion, here because the application may not delete an audit trail: every table with a tenant_id, those first that no other refers to. Members and keys go with
-- the tenant in the last step, so that whoever began can go on. Null: the tenant has another name.
CREATE FUNCTION scanstream.delete_tenant(wanted_name text, max_rows integer) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  tenant constant uuid := nullif(current_setting('app.tenant_id', true), '')::uuid;
  target regclass;
  referenced regclass;
  removed integer;
  left_over integer := max_rows;
BEGIN
  -- One at a time: a second deletion would find its rows gone, take them for the last, and delete all the others in one statement.
  PERFORM FROM public.tenants WHERE id = tenant FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN 'deleted'; END IF;
  IF NOT EXISTS (SELECT FROM public.tenants WHERE id = tenant AND name = wanted_name) THEN RETURN NULL; END IF;
  FOR target IN
    SELECT t.oid FROM pg_class AS t JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
    WHERE t.relnamespace = 'public'::regnamespace AND t.relkind = 'r' AND t.relname NOT IN ('memberships', 'api_keys')
      AND has_table_privilege(t.oid, 'DELETE')
    ORDER BY (SELECT count(*) FROM pg_constraint WHERE confrelid = t.oid), t.relname
  LOOP
    BEGIN
      EXECUTE format('DELETE FROM %1$s WHERE ctid = ANY (ARRAY(SELECT ctid FROM %1$s WHERE tenant_id = $1 LIMIT $2))', target)
        USING tenant, left_over;
      GET DIAGNOSTICS removed = ROW_COUNT;
      left_over := left_over - removed;
    EXCEPTION WHEN foreign_key_violation THEN
      -- A table of a feature: the rows that refer to it are deleted first, and it is in a later step.
      referenced := target;
    END;
    IF left_over <= 0 THEN RETURN 'begun'; END IF;
  END LOOP;
  IF referenced IS NOT NULL THEN
    IF left_over < max_rows THEN RETURN 'begun'; END IF;
    -- Rows of one table that refer to each other are deleted together.
    IF max_rows < 2147483647 THEN RETURN scanstream.delete_tenant(wanted_name, 2147483647); END IF;
    RAISE EXCEPTION 'rows that stay refer to %', referenced USING ERRCODE = 'foreign_key_violation';
  END IF;
  DELETE FROM public.tenants WHERE id = tenant;
  RETURN 'deleted';
END
$$;
--> statement-breakpoint
-- The tenant that waited longest for work that comes with time: the application sees the rows of one tenant, and is told here which.
-- An index, whose name ends with _due, says for which rows: its first column since when, its condition whether. Only an owner of tables makes one.
CREATE FUNCTION scanstream.find_due_tenant(due text, after_seconds double precision) RETURNS uuid
LANGUAGE plpgsql STABLE STRICT SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  tenant uuid;
  query text;
BEGIN
  SELECT format('SELECT tenant_id FROM %1$s WHERE %2$s <= now() - make_interval(secs => $1) AND %3$s ORDER BY %2$s LIMIT 1',
    i.indrelid::regclass, pg_get_indexdef(i.indexrelid, 1, true), coalesce(pg_get_expr(i.indpred, i.indrelid), 'true'))
  INTO query FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
  WHERE c.relnamespace = 'public'::regnamespace AND c.relname = due AND due LIKE '%\_due';
  IF query IS NULL THEN RAISE EXCEPTION 'no index "%" says what is due', due USING ERRCODE = 'undefined_object'; END IF;
  EXECUTE query INTO tenant USING after_seconds;
  RETURN tenant;
END
$$;
--> statement-breakpoint
REVOKE ALL ON FUNCTION scanstream.delete_tenant(text, integer), scanstream.find_due_tenant(text, double precision), scanstream.find_api_key(text),
  scanstream.revoke_api_key(uuid) FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION scanstream.delete_tenant(text, integer), scanstream.find_due_tenant(text, double precision), scanstream.find_api_key(text),
  scanstream.revoke_api_key(uuid) TO scanstream_app;
--> statement-breakpoint
RESET ROLE;
--> statement-breakpoint
REVOKE CREATE ON SCHEMA scanstream FROM scanstream_admin;
