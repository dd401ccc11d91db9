-- The roles that every transaction takes on, see roles.ts. They belong to the cluster, so they may be there already (another
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
          RAISE EXCEPTION 'the role % does not exist, and % may not create roles: run CREATE ROLE % NOLOGIN; GRANT % TO %; as an administrator',
            wanted, current_user, wanted, wanted, quote_ident(current_user) USING ERRCODE = 'insufficient_privilege';
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
	CONSTRAINT "decisions_kind" CHECK ("decisions"."kind" in ('waiver', 'attestation')),
	CONSTRAINT "decisions_status" CHECK ("decisions"."status" in ('PASS', 'FAIL', 'NOT_APPLICABLE')),
	CONSTRAINT "decisions_of_kind" CHECK (("decisions"."kind" = 'attestation') = ("decisions"."status" is not null) and ("decisions"."kind" = 'waiver' or "decisions"."resource" is null)),
	CONSTRAINT "decisions_expires_at" CHECK (("decisions"."expires" is null) = ("decisions"."expires_at" is null)),
	CONSTRAINT "decisions_ended_reason" CHECK ("decisions"."ended_reason" in ('withdrawn', 'contradicted', 'expired')),
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
	"expected" text DEFAULT '' NOT NULL,
	"actual" text NOT NULL,
	"to_pass" text,
	"rule_status" text,
	"rule_reason" text,
	"rule_severity" text,
	"seen_at" timestamp (3) with time zone NOT NULL,
	"cause" text NOT NULL,
	"explained_by" jsonb NOT NULL,
	"also" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "changes_pkey" PRIMARY KEY("tenant_id","monitor_id","id"),
	CONSTRAINT "changes_from" CHECK ("changes"."from_status" in ('PASS', 'FAIL', 'MANUAL')),
	CONSTRAINT "changes_to" CHECK ("changes"."to_status" in ('PASS', 'FAIL', 'MANUAL')),
	CONSTRAINT "changes_rule" CHECK ("changes"."rule_status" in ('PASS', 'FAIL', 'MANUAL')),
	CONSTRAINT "changes_from_or_to" CHECK ("changes"."from_status" is not null or "changes"."to_status" is not null),
	CONSTRAINT "changes_cause" CHECK ("changes"."cause" in ('log', 'reconciliation', 'start', 'decision', 'org_policy'))
);
--> statement-breakpoint
ALTER TABLE "changes" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE TABLE "monitors" (
	"id" uuid NOT NULL,
	"tenant_id" uuid NOT NULL,
	"org_url" text NOT NULL,
	"organization_id" uuid,
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
	"gap_from" timestamp (3) with time zone,
	"gap_to" timestamp (3) with time zone,
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
	CONSTRAINT "monitors_status" CHECK ("monitors"."status" in ('running', 'stopped', 'ended')),
	CONSTRAINT "monitors_log_status" CHECK ("monitors"."log_status" in ('reading', 'unreadable', 'unknown')),
	CONSTRAINT "monitors_ended_at" CHECK (("monitors"."ended_at" is not null) = ("monitors"."status" = 'ended')),
	CONSTRAINT "monitors_counts" CHECK (least("monitors"."checks_total", "monitors"."pass", "monitors"."fail", "monitors"."manual", "monitors"."not_applicable") >= 0)
);
--> statement-breakpoint
ALTER TABLE "monitors" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE TABLE "looks" (
	"tenant_id" uuid NOT NULL,
	"organization_id" uuid NOT NULL,
	"source_id" uuid NOT NULL,
	"known_from" timestamp (3) with time zone NOT NULL,
	"known_to" timestamp (3) with time zone NOT NULL,
	"verdicts" jsonb,
	CONSTRAINT "looks_pkey" PRIMARY KEY("tenant_id","organization_id","source_id","known_from"),
	CONSTRAINT "looks_times" CHECK ("looks"."known_from" <= "looks"."known_to")
);
--> statement-breakpoint
ALTER TABLE "looks" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE TABLE "organization_days" (
	"tenant_id" uuid NOT NULL,
	"organization_id" uuid NOT NULL,
	"day" date NOT NULL,
	"known" boolean NOT NULL,
	"failed" text[] DEFAULT '{}' NOT NULL,
	"failing" text[] DEFAULT '{}' NOT NULL,
	"failed_count" integer GENERATED ALWAYS AS (cardinality(failed)) STORED,
	"failing_count" integer GENERATED ALWAYS AS (cardinality(failing)) STORED,
	CONSTRAINT "organization_days_pkey" PRIMARY KEY("tenant_id","organization_id","day")
);
--> statement-breakpoint
ALTER TABLE "organization_days" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE TABLE "organizations" (
	"tenant_id" uuid NOT NULL,
	"id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"org_url" text NOT NULL,
	"pass" integer DEFAULT 0 NOT NULL,
	"fail" integer DEFAULT 0 NOT NULL,
	"manual" integer DEFAULT 0 NOT NULL,
	"not_applicable" integer DEFAULT 0 NOT NULL,
	"unknown" integer DEFAULT 0 NOT NULL,
	"cat1_open" integer DEFAULT 0 NOT NULL,
	"cat2_open" integer DEFAULT 0 NOT NULL,
	"cat3_open" integer DEFAULT 0 NOT NULL,
	"open_exposures" integer DEFAULT 0 NOT NULL,
	"last_scan_id" uuid,
	"last_scan_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "organizations_pkey" PRIMARY KEY("tenant_id","id"),
	CONSTRAINT "organizations_org_url" UNIQUE("tenant_id","org_url")
);
--> statement-breakpoint
ALTER TABLE "organizations" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE TABLE "rule_states" (
	"tenant_id" uuid NOT NULL,
	"organization_id" uuid NOT NULL,
	"check" text NOT NULL,
	"severity" text NOT NULL,
	"status" text NOT NULL,
	"reason" text,
	"known_at" timestamp (3) with time zone NOT NULL,
	"open_position" integer,
	"last_position" integer DEFAULT 0 NOT NULL,
	"last_number" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "rule_states_pkey" PRIMARY KEY("tenant_id","organization_id","check")
);
--> statement-breakpoint
ALTER TABLE "rule_states" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE TABLE "verdicts" (
	"tenant_id" uuid NOT NULL,
	"organization_id" uuid NOT NULL,
	"check" text NOT NULL,
	"position" integer NOT NULL,
	"source_id" uuid NOT NULL,
	"is_scan" boolean NOT NULL,
	"status" text NOT NULL,
	"reason" text,
	"known_at" timestamp (3) with time zone NOT NULL,
	"cause" text NOT NULL,
	"actor" jsonb,
	"number" integer,
	"not_before" timestamp (3) with time zone,
	"fingerprints" text[],
	CONSTRAINT "verdicts_pkey" PRIMARY KEY("tenant_id","organization_id","check","position"),
	CONSTRAINT "verdicts_status" CHECK ("verdicts"."status" in ('PASS', 'FAIL', 'MANUAL')),
	CONSTRAINT "verdicts_reason" CHECK (("verdicts"."status" = 'MANUAL') = ("verdicts"."reason" is not null)),
	CONSTRAINT "verdicts_cause" CHECK ("verdicts"."cause" in ('scan', 'log', 'reconciliation', 'start', 'decision', 'org_policy')),
	CONSTRAINT "verdicts_change" CHECK (("verdicts"."number" is null) = ("verdicts"."fingerprints" is null))
);
--> statement-breakpoint
ALTER TABLE "verdicts" ENABLE ROW LEVEL SECURITY;
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
	"last_used_at" timestamp (3) with time zone,
	CONSTRAINT "api_keys_hash_is_sha256_hex" CHECK ("api_keys"."hash" ~ '^[0-9a-f]{64}$'),
	CONSTRAINT "api_keys_scopes" CHECK ("api_keys"."scopes" <@ array['read', 'publish', 'admin'] and cardinality("api_keys"."scopes") between 1 and 3),
	CONSTRAINT "api_keys_name_length" CHECK (length("api_keys"."name") between 1 and 200)
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
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "audit_events_actor_kind" CHECK ("audit_events"."actor_kind" in ('user', 'api_key', 'operator', 'gateway'))
);
--> statement-breakpoint
ALTER TABLE "audit_events" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE TABLE "memberships" (
	"tenant_id" uuid NOT NULL,
	"user_id" text NOT NULL,
	"role" text DEFAULT 'operator' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "memberships_pkey" PRIMARY KEY("tenant_id","user_id"),
	CONSTRAINT "memberships_role" CHECK ("memberships"."role" in ('viewer', 'operator', 'admin'))
);
--> statement-breakpoint
ALTER TABLE "memberships" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE TABLE "tenants" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "tenants_name_length" CHECK (length("tenants"."name") between 1 and 200)
);
--> statement-breakpoint
ALTER TABLE "tenants" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE TABLE "users" (
	"sub" text PRIMARY KEY NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "users_sub_length" CHECK (length("users"."sub") between 1 and 255)
);
--> statement-breakpoint
ALTER TABLE "users" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE TABLE "findings" (
	"tenant_id" uuid NOT NULL,
	"scan_id" uuid NOT NULL,
	"fingerprint" text NOT NULL,
	"check" text NOT NULL,
	"status" text NOT NULL,
	"reason" text,
	"severity" text NOT NULL,
	"resource_type" text NOT NULL,
	"resource_id" text NOT NULL,
	"resource_name" text NOT NULL,
	"expected" text NOT NULL,
	"actual" text NOT NULL,
	"detail" text NOT NULL,
	"automated" text,
	"cause" text,
	"notes" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"advisory" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "findings_pkey" PRIMARY KEY("tenant_id","scan_id","fingerprint"),
	CONSTRAINT "findings_status" CHECK ("findings"."status" in ('PASS', 'FAIL', 'MANUAL')),
	CONSTRAINT "findings_automated" CHECK ("findings"."automated" = 'PASS'),
	CONSTRAINT "findings_severity" CHECK ("findings"."severity" in ('high', 'medium', 'low'))
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
	"stored_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "scan_reports_pkey" PRIMARY KEY("tenant_id","scan_id"),
	CONSTRAINT "scan_reports_size" CHECK ("scan_reports"."size_bytes" = octet_length("scan_reports"."body"))
);
--> statement-breakpoint
ALTER TABLE "scan_reports" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE TABLE "scans" (
	"id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"tenant_id" uuid NOT NULL,
	"org_url" text,
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
	CONSTRAINT "scans_status" CHECK ("scans"."status" in ('pending', 'running', 'completed', 'cancelled', 'failed', 'expired')),
	CONSTRAINT "scans_ended_at" CHECK (("scans"."ended_at" is not null) = ("scans"."status" not in ('pending', 'running'))),
	CONSTRAINT "scans_counts" CHECK (least("scans"."checks_total", "scans"."checks_done", "scans"."pass", "scans"."fail", "scans"."manual", "scans"."not_applicable") >= 0)
);
--> statement-breakpoint
ALTER TABLE "scans" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE TABLE "published" (
	"tenant_id" uuid NOT NULL,
	"channel" text NOT NULL,
	"producer" text NOT NULL,
	"last_n" bigint DEFAULT 0 NOT NULL,
	"published_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "published_pkey" PRIMARY KEY("tenant_id","channel","producer"),
	CONSTRAINT "published_last_n" CHECK ("published"."last_n" >= 0)
);
--> statement-breakpoint
ALTER TABLE "published" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE "decisions" ADD CONSTRAINT "decisions_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "changes" ADD CONSTRAINT "changes_monitor" FOREIGN KEY ("tenant_id","monitor_id") REFERENCES "public"."monitors"("tenant_id","id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "monitors" ADD CONSTRAINT "monitors_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "looks" ADD CONSTRAINT "looks_organization" FOREIGN KEY ("tenant_id","organization_id") REFERENCES "public"."organizations"("tenant_id","id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "organization_days" ADD CONSTRAINT "organization_days_organization" FOREIGN KEY ("tenant_id","organization_id") REFERENCES "public"."organizations"("tenant_id","id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "organizations" ADD CONSTRAINT "organizations_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "rule_states" ADD CONSTRAINT "rule_states_organization" FOREIGN KEY ("tenant_id","organization_id") REFERENCES "public"."organizations"("tenant_id","id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "verdicts" ADD CONSTRAINT "verdicts_organization" FOREIGN KEY ("tenant_id","organization_id") REFERENCES "public"."organizations"("tenant_id","id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "audit_events" ADD CONSTRAINT "audit_events_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_user_id_users_sub_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("sub") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "findings" ADD CONSTRAINT "findings_scan" FOREIGN KEY ("tenant_id","scan_id") REFERENCES "public"."scans"("tenant_id","id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "scan_reports" ADD CONSTRAINT "scan_reports_scan" FOREIGN KEY ("tenant_id","scan_id") REFERENCES "public"."scans"("tenant_id","id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "scans" ADD CONSTRAINT "scans_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "published" ADD CONSTRAINT "published_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;
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
CREATE INDEX "monitors_of_organization" ON "monitors" USING btree ("tenant_id","organization_id");
--> statement-breakpoint
CREATE INDEX "monitors_due" ON "monitors" USING btree ("stale_from") WHERE "monitors"."status" = 'running' and "monitors"."stale_at" is null;
--> statement-breakpoint
CREATE INDEX "monitors_ended" ON "monitors" USING btree ("ended_at") WHERE "monitors"."ended_at" is not null;
--> statement-breakpoint
CREATE INDEX "looks_by_time" ON "looks" USING btree ("tenant_id","organization_id","known_to");
--> statement-breakpoint
CREATE INDEX "looks_old" ON "looks" USING btree ("known_from");
--> statement-breakpoint
CREATE INDEX "organization_days_old" ON "organization_days" USING btree ("day");
--> statement-breakpoint
CREATE INDEX "organizations_of_tenant" ON "organizations" USING btree ("tenant_id","created_at","id");
--> statement-breakpoint
CREATE UNIQUE INDEX "verdicts_changes" ON "verdicts" USING btree ("tenant_id","organization_id","check","number") WHERE "verdicts"."number" is not null;
--> statement-breakpoint
CREATE INDEX "verdicts_by_time" ON "verdicts" USING btree ("tenant_id","organization_id","check","known_at");
--> statement-breakpoint
CREATE INDEX "verdicts_of_source" ON "verdicts" USING btree ("tenant_id","organization_id","check","source_id","known_at","position");
--> statement-breakpoint
CREATE INDEX "verdicts_old" ON "verdicts" USING btree ("known_at");
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
CREATE INDEX "memberships_user_id" ON "memberships" USING btree ("user_id");
--> statement-breakpoint
CREATE INDEX "memberships_by_time" ON "memberships" USING btree ("tenant_id","created_at","user_id");
--> statement-breakpoint
CREATE INDEX "memberships_admins" ON "memberships" USING btree ("tenant_id","user_id") WHERE "memberships"."role" = 'admin';
--> statement-breakpoint
CREATE INDEX "findings_of_scan" ON "findings" USING btree ("tenant_id","scan_id","created_at","fingerprint");
--> statement-breakpoint
CREATE INDEX "scans_of_tenant" ON "scans" USING btree ("tenant_id","created_at","id");
--> statement-breakpoint
CREATE INDEX "scans_completed_of_org" ON "scans" USING btree ("tenant_id","org_url","ended_at") WHERE "scans"."status" = 'completed';
--> statement-breakpoint
CREATE INDEX "scans_unfinished" ON "scans" USING btree ("updated_at") WHERE "scans"."status" in ('pending', 'running');
--> statement-breakpoint
CREATE INDEX "scans_unfinished_of_tenant" ON "scans" USING btree ("tenant_id","created_at","id") WHERE "scans"."status" in ('pending', 'running');
--> statement-breakpoint
CREATE INDEX "scans_ended_of_tenant" ON "scans" USING btree ("tenant_id","created_at","id") WHERE "scans"."ended_at" is not null;
--> statement-breakpoint
CREATE INDEX "scans_ended" ON "scans" USING btree ("ended_at") WHERE "scans"."ended_at" is not null;
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
CREATE POLICY "looks_of_tenant" ON "looks" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("looks"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("looks"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));
--> statement-breakpoint
CREATE POLICY "looks_of_admin" ON "looks" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');
--> statement-breakpoint
CREATE POLICY "organization_days_of_tenant" ON "organization_days" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("organization_days"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("organization_days"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));
--> statement-breakpoint
CREATE POLICY "organization_days_of_admin" ON "organization_days" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');
--> statement-breakpoint
CREATE POLICY "organizations_of_tenant" ON "organizations" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("organizations"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("organizations"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));
--> statement-breakpoint
CREATE POLICY "organizations_of_admin" ON "organizations" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');
--> statement-breakpoint
CREATE POLICY "rule_states_of_tenant" ON "rule_states" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("rule_states"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("rule_states"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));
--> statement-breakpoint
CREATE POLICY "rule_states_of_admin" ON "rule_states" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');
--> statement-breakpoint
CREATE POLICY "verdicts_of_tenant" ON "verdicts" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("verdicts"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("verdicts"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));
--> statement-breakpoint
CREATE POLICY "verdicts_of_admin" ON "verdicts" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');
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
CREATE POLICY "users_of_tenant" ON "users" AS PERMISSIVE FOR ALL TO "scanstream_app" USING (exists (select 1 from memberships where memberships.user_id = users.sub and memberships.tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid))) WITH CHECK (exists (select 1 from memberships where memberships.user_id = users.sub and memberships.tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid)));
--> statement-breakpoint
CREATE POLICY "users_of_admin" ON "users" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');
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
CREATE POLICY "published_of_tenant" ON "published" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("published"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("published"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));
--> statement-breakpoint
CREATE POLICY "published_of_admin" ON "published" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');
--> statement-breakpoint
-- Without FORCE the owner of a table, which DATABASE_URL usually is, would see all rows whenever it forgot to take on a role.
ALTER TABLE public.tenants FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE public.users FORCE ROW LEVEL SECURITY;
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
ALTER TABLE public.looks FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE public.verdicts FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE public.rule_states FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE public.organization_days FORCE ROW LEVEL SECURITY;
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
REVOKE ALL ON public.tenants, public.users, public.memberships, public.api_keys, public.scans, public.findings, public.monitors,
  public.changes, public.audit_events, public.scan_reports,
  public.decisions, public.organizations, public.looks, public.verdicts, public.rule_states, public.organization_days,
  public.published FROM PUBLIC;
--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON public.tenants, public.users, public.memberships, public.api_keys, public.scans,
  public.findings, public.monitors, public.changes, public.scan_reports,
  public.decisions, public.organizations, public.looks, public.verdicts, public.rule_states, public.organization_days,
  public.published TO scanstream_admin;
--> statement-breakpoint
-- The audit trail is append-only for both roles; a tenant's deletion takes its trail with it. Number and time of an audit event
-- come from the database: a number that was written would keep the next change from being made.
GRANT SELECT, INSERT (tenant_id, actor_kind, actor_id, action, target_type, target_id, detail)
  ON public.audit_events TO scanstream_app, scanstream_admin;
--> statement-breakpoint
-- The application reads who belongs to a tenant, and adds and removes its members.
GRANT SELECT ON public.tenants, public.users, public.memberships TO scanstream_app;
--> statement-breakpoint
GRANT INSERT, UPDATE (role), DELETE ON public.memberships TO scanstream_app;
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
-- Triggers write the history, and nothing of it is changed: it goes with its organization.
GRANT SELECT ON public.rule_states, public.organization_days TO scanstream_app;
--> statement-breakpoint
GRANT SELECT, DELETE ON public.looks, public.verdicts TO scanstream_app;
--> statement-breakpoint
GRANT SELECT, INSERT, DELETE ON public.organizations TO scanstream_app;
--> statement-breakpoint
-- The origin of a web address, in lower case and without the scheme's own port; null for what is written in any other way.
CREATE FUNCTION scanstream.origin_of(address text) RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT regexp_replace(found.origin, CASE WHEN found.origin LIKE 'https:%' THEN ':443$' ELSE ':80$' END, '')
  FROM (SELECT lower(substring(address FROM '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\[:space:]]+'))) AS found (origin);
$$;
--> statement-breakpoint
-- The organization of an address, which is added where it is not there yet.
CREATE FUNCTION scanstream.organization_of(wanted_tenant uuid, address text) RETURNS uuid
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  origin constant text := scanstream.origin_of(address);
  organization uuid;
BEGIN
  IF origin IS NULL THEN RETURN NULL; END IF;
  SELECT id INTO organization FROM public.organizations WHERE tenant_id = wanted_tenant AND org_url = origin;
  IF FOUND THEN RETURN organization; END IF;
  INSERT INTO public.organizations (tenant_id, org_url) VALUES (wanted_tenant, origin)
  ON CONFLICT (tenant_id, org_url) DO NOTHING RETURNING id INTO organization;
  IF FOUND THEN RETURN organization; END IF;
  -- Another transaction has added it at this moment.
  SELECT id INTO organization FROM public.organizations WHERE tenant_id = wanted_tenant AND org_url = origin;
  RETURN organization;
END
$$;
--> statement-breakpoint
CREATE FUNCTION scanstream.add_organization() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM scanstream.organization_of(NEW.tenant_id, NEW.org_url);
  RETURN NULL;
END
$$;
--> statement-breakpoint
-- Triggers need no right to execute; only what the roles call by name is granted.
REVOKE ALL ON FUNCTION scanstream.origin_of(text), scanstream.organization_of(uuid, text), scanstream.add_organization() FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION scanstream.origin_of(text), scanstream.organization_of(uuid, text)
  TO scanstream_app, scanstream_admin;
--> statement-breakpoint
-- Fail a transaction whose caller lacks the authority, with a SQLSTATE that nothing else has.
CREATE FUNCTION scanstream.require_member(wanted_tenant uuid, wanted_user text, wanted_roles text[]) RETURNS void
LANGUAGE plpgsql STABLE
AS $$
BEGIN
  PERFORM FROM public.memberships AS member
  WHERE member.tenant_id = wanted_tenant AND member.user_id = wanted_user AND member.role = ANY (wanted_roles);
  IF NOT FOUND THEN RAISE EXCEPTION 'the caller is no member with such a role' USING ERRCODE = 'SS403'; END IF;
END
$$;
--> statement-breakpoint
-- An array contains the empty one, which stands for what no key may.
CREATE FUNCTION scanstream.require_api_key(wanted_tenant uuid, wanted_id uuid, wanted_scopes text[]) RETURNS void
LANGUAGE plpgsql STABLE
AS $$
BEGIN
  PERFORM FROM public.api_keys AS found
  WHERE found.tenant_id = wanted_tenant AND found.id = wanted_id
    AND found.scopes @> wanted_scopes AND cardinality(wanted_scopes) > 0
    AND found.revoked_at IS NULL AND (found.expires_at IS NULL OR found.expires_at > now());
  IF NOT FOUND THEN RAISE EXCEPTION 'the key is not valid with such scopes' USING ERRCODE = 'SS403'; END IF;
END
$$;
--> statement-breakpoint
REVOKE ALL ON FUNCTION scanstream.require_member(uuid, text, text[]), scanstream.require_api_key(uuid, uuid, text[]) FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION scanstream.require_member(uuid, text, text[]), scanstream.require_api_key(uuid, uuid, text[])
  TO scanstream_app;
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
-- A subject that may belong to other tenants already, of whom the caller learns nothing.
CREATE FUNCTION scanstream.register_user(wanted_sub text) RETURNS text
LANGUAGE sql VOLATILE STRICT SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
  INSERT INTO public.users (sub) VALUES (wanted_sub) ON CONFLICT (sub) DO NOTHING;
  SELECT wanted_sub;
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
-- the tenant in the last step, so that whoever began can go on. Null: the tenant is not there under this name.
CREATE FUNCTION scanstream.delete_tenant(wanted_name text, max_rows integer) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  tenant constant uuid := nullif(current_setting('app.tenant_id', true), '')::uuid;
  target regclass;
  removed integer;
  left_over integer := max_rows;
BEGIN
  IF NOT EXISTS (SELECT FROM public.tenants WHERE id = tenant AND name = wanted_name) THEN RETURN NULL; END IF;
  FOR target IN
    SELECT t.oid FROM pg_class AS t JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
    WHERE t.relnamespace = 'public'::regnamespace AND t.relkind = 'r' AND t.relname NOT IN ('memberships', 'api_keys')
      AND has_table_privilege(t.oid, 'DELETE')
    ORDER BY (SELECT count(*) FROM pg_constraint WHERE confrelid = t.oid), t.relname
  LOOP
    EXECUTE format('DELETE FROM %1$s WHERE ctid = ANY (ARRAY(SELECT ctid FROM %1$s WHERE tenant_id = $1 LIMIT $2))', target)
      USING tenant, left_over;
    GET DIAGNOSTICS removed = ROW_COUNT;
    left_over := left_over - removed;
    IF left_over <= 0 THEN RETURN 'begun'; END IF;
  END LOOP;
  DELETE FROM public.tenants WHERE id = tenant;
  RETURN 'deleted';
END
$$;
--> statement-breakpoint
-- The tenant that waited longest for work that comes with time: the application sees the rows of one tenant, and is told here which.
CREATE FUNCTION scanstream.find_due_tenant(work text, after_seconds double precision) RETURNS uuid
LANGUAGE sql STABLE STRICT SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT tenant_id FROM (
    (SELECT tenant_id, updated_at AS since FROM public.scans
      WHERE work = 'expire' AND status IN ('pending', 'running') ORDER BY updated_at LIMIT 1)
    UNION ALL (SELECT tenant_id, stale_from FROM public.monitors
      WHERE work = 'mark' AND status = 'running' AND stale_at IS NULL ORDER BY stale_from LIMIT 1)
    UNION ALL (SELECT tenant_id, ended_at FROM public.scans WHERE work = 'delete' AND ended_at IS NOT NULL ORDER BY ended_at LIMIT 1)
    UNION ALL (SELECT tenant_id, ended_at FROM public.monitors WHERE work = 'delete' AND ended_at IS NOT NULL ORDER BY ended_at LIMIT 1)
  ) AS oldest
  WHERE since <= now() - make_interval(secs => after_seconds) ORDER BY since LIMIT 1;
$$;
--> statement-breakpoint
-- The worst first; of the reasons of MANUAL those that a person can fix come first, as in a report.
CREATE FUNCTION scanstream.verdict_ranks() RETURNS text[]
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT ARRAY['FAIL', 'missing_scope', 'missing_role', 'not_available', 'provider_error', 'unreadable', 'interrupted',
    'needs_review', 'rule_changed', 'not_automated', 'partly_automated', 'not_applicable', 'PASS'];
$$;
--> statement-breakpoint
-- False for MANUAL because something could not be read: that time is unknown.
CREATE FUNCTION scanstream.is_readable(verdict text) RETURNS boolean
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT array_position(scanstream.verdict_ranks(), verdict) NOT BETWEEN 2 AND 7; $$;
--> statement-breakpoint
-- What was seen failing on a day, and what is still failing at its end.
CREATE FUNCTION scanstream.mark_day(
  organization public.organizations, seen_at timestamptz, now_failing text[], not_failing text[], is_monitor boolean, is_known boolean
) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  wanted_day constant date := (seen_at AT TIME ZONE 'UTC')::date;
BEGIN
  INSERT INTO public.organization_days (tenant_id, organization_id, day, known, failed, failing)
  SELECT organization.tenant_id, organization.id, wanted_day, before.known AND looked.is_monitored,
    CASE WHEN NOT looked.is_monitored THEN '{}'
      -- What moved at the first moment of a look was not seen before it.
      WHEN looked.since < mark_day.seen_at THEN before.failing
      ELSE ARRAY(SELECT unnest(before.failing) EXCEPT SELECT unnest(not_failing)) END,
    before.failing
  FROM (SELECT count(*) > 0 AS is_monitored, min(known_from) AS since
    FROM public.looks WHERE looks.tenant_id = organization.tenant_id AND looks.organization_id = organization.id
      AND known_to >= wanted_day::timestamp AT TIME ZONE 'UTC'
      AND (known_to > wanted_day::timestamp AT TIME ZONE 'UTC' OR known_from = known_to) AND known_from < (wanted_day + 1)::timestamp AT TIME ZONE 'UTC'
      AND looks.verdicts IS NULL
  ) AS looked
  CROSS JOIN (
    (SELECT known, failing FROM public.organization_days AS earlier
      WHERE earlier.tenant_id = organization.tenant_id AND earlier.organization_id = organization.id AND earlier.day < wanted_day
      ORDER BY earlier.day DESC LIMIT 1)
    UNION ALL SELECT false, '{}' LIMIT 1
  ) AS before
  ON CONFLICT DO NOTHING;
  UPDATE public.organization_days SET known = known OR is_known,
    failed = ARRAY(SELECT unnest(failed) UNION SELECT unnest(now_failing) ORDER BY 1)
  WHERE tenant_id = organization.tenant_id AND organization_id = organization.id AND day = wanted_day;
  IF NOT is_monitor THEN RETURN; END IF;
  UPDATE public.organization_days SET failing = ARRAY(
    (SELECT unnest(failing) UNION SELECT unnest(now_failing)) EXCEPT SELECT unnest(not_failing) ORDER BY 1)
  WHERE tenant_id = organization.tenant_id AND organization_id = organization.id AND day >= wanted_day;
END
$$;
--> statement-breakpoint
-- Writes what a scan or a monitor saw into the history of its organization, in the order in which it saw it: a verdict change where the
-- verdict of a rule moved, nothing where it did not. Of several that look at one moment the one that began last decides, with equal
-- begin the worse; one that could not read a rule decides nothing where another one could. The row of the organization is the lock.
CREATE FUNCTION scanstream.keep_verdicts(
  wanted_tenant uuid, wanted_organization uuid, source uuid, given_is_scan boolean, began timestamptz, looked_to timestamptz,
  looked_before timestamptz, seen jsonb
) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  organization public.organizations;
  rivals public.looks[];
  one record;
  own public.verdicts;
  before public.verdicts;
  rule public.rule_states;
  change public.verdicts;
  rival record;
  seen_at timestamptz(3);
  verdict text;
  decides boolean;
  failing text[] := '{}';
  is_known boolean := false;
BEGIN
  SELECT * INTO organization FROM public.organizations WHERE tenant_id = wanted_tenant AND id = wanted_organization FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  rivals := ARRAY(
    SELECT looks FROM public.looks WHERE tenant_id = wanted_tenant AND organization_id = wanted_organization AND source_id <> source
      AND known_to >= (SELECT min(least((each ->> 'at')::timestamptz, now())) FROM jsonb_array_elements(seen) AS each)
      AND known_from <= looked_to);
  FOR one IN
    SELECT * FROM jsonb_to_recordset(seen) AS row (
      "check" text, severity text, verdict text, at timestamptz, cause text, actor jsonb, fingerprints text[])
  LOOP
    verdict := one.verdict;
    -- The clock of a monitor may be ahead, or go back.
    seen_at := least(one.at, now());
    change := NULL;
    IF NOT given_is_scan THEN
      SELECT * INTO own FROM public.verdicts
      WHERE tenant_id = wanted_tenant AND organization_id = wanted_organization AND "check" = one."check" AND source_id = source
      ORDER BY known_at DESC, position DESC LIMIT 1;
      IF FOUND THEN
        CONTINUE WHEN coalesce(own.reason, own.status) = verdict;
        seen_at := greatest(seen_at, own.known_at);
      END IF;
    END IF;

    SELECT * INTO rule FROM public.rule_states
    WHERE tenant_id = wanted_tenant AND organization_id = wanted_organization AND "check" = one."check";
    IF NOT FOUND THEN
      rule.last_position := 0;
      rule.last_number := 0;
      rule.severity := 'medium';
    END IF;

    SELECT other.verdict, other.began INTO rival
    FROM (
      SELECT (
        SELECT min(known_from) FROM public.looks
        WHERE tenant_id = wanted_tenant AND organization_id = wanted_organization AND source_id = each.source_id
      ) AS began, CASE WHEN each.verdicts IS NOT NULL THEN each.verdicts ->> one."check" ELSE (
        SELECT coalesce(reason, status) FROM public.verdicts
        WHERE tenant_id = wanted_tenant AND organization_id = wanted_organization AND "check" = one."check"
          AND source_id = each.source_id AND known_at <= seen_at
        ORDER BY known_at DESC, position DESC LIMIT 1
      ) END AS verdict
      FROM unnest(rivals) AS each WHERE each.known_from <= seen_at AND each.known_to >= seen_at
    ) AS other
    WHERE other.verdict IS NOT NULL
    ORDER BY scanstream.is_readable(other.verdict) DESC, other.began DESC,
      array_position(scanstream.verdict_ranks(), other.verdict) LIMIT 1;
    decides := NOT FOUND OR (scanstream.is_readable(verdict), began) > (scanstream.is_readable(rival.verdict), rival.began)
      OR ((scanstream.is_readable(verdict), began) = (scanstream.is_readable(rival.verdict), rival.began)
        AND array_position(scanstream.verdict_ranks(), verdict) <= array_position(scanstream.verdict_ranks(), rival.verdict));

    SELECT * INTO before FROM public.verdicts
    WHERE tenant_id = wanted_tenant AND organization_id = wanted_organization AND "check" = one."check" AND known_at <= seen_at
      AND number IS NOT NULL
    ORDER BY known_at DESC, number DESC LIMIT 1;
    IF decides AND (NOT FOUND OR coalesce(before.reason, before.status) <> verdict) THEN
      change.number := rule.last_number + 1;
      change.fingerprints := one.fingerprints;
      IF NOT scanstream.is_readable(coalesce(before.reason, before.status)) THEN
        change.not_before := before.not_before;
      ELSIF before.number IS NOT NULL THEN
        change.not_before := greatest(before.known_at, CASE WHEN EXISTS (
          SELECT FROM public.looks WHERE tenant_id = wanted_tenant AND organization_id = wanted_organization AND source_id <> source
            AND known_to >= seen_at AND known_from < seen_at AND (looks.verdicts IS NULL OR looks.verdicts ? one."check")
        ) THEN seen_at ELSE greatest(least(looked_before, seen_at), (
          SELECT known_to FROM public.looks
          WHERE tenant_id = wanted_tenant AND organization_id = wanted_organization AND source_id <> source AND known_to < seen_at
            AND (looks.verdicts IS NULL OR looks.verdicts ? one."check")
          ORDER BY known_to DESC LIMIT 1
        )) END);
      END IF;
    END IF;
    IF change.number IS NOT NULL OR NOT given_is_scan THEN
      change.tenant_id := wanted_tenant;
      change.organization_id := wanted_organization;
      change."check" := one."check";
      change.position := rule.last_position + 1;
      change.source_id := source;
      change.is_scan := given_is_scan;
      change.status := CASE WHEN verdict IN ('PASS', 'FAIL') THEN verdict ELSE 'MANUAL' END;
      change.reason := CASE WHEN change.status = 'MANUAL' THEN verdict END;
      change.known_at := seen_at;
      change.cause := one.cause;
      change.actor := CASE WHEN coalesce(one.actor ->> 'id', one.actor ->> 'login', one.actor ->> 'name') IS NOT NULL
        THEN jsonb_build_object('id', one.actor -> 'id', 'login', one.actor -> 'login', 'name', one.actor -> 'name') END;
      IF change.number IS NOT NULL THEN rule.last_number := change.number; END IF;
      INSERT INTO public.verdicts SELECT change.*;
      rule.last_position := change.position;
    END IF;

    IF decides AND (rule.known_at IS NULL OR greatest(seen_at, CASE WHEN given_is_scan THEN looked_to ELSE seen_at END) >= rule.known_at) THEN
      rule.status := CASE WHEN verdict IN ('PASS', 'FAIL') THEN verdict ELSE 'MANUAL' END;
      rule.reason := CASE WHEN rule.status = 'MANUAL' THEN verdict END;
      rule.known_at := CASE WHEN given_is_scan THEN looked_to ELSE seen_at END;
      IF verdict = 'FAIL' THEN
        rule.open_position := coalesce(rule.open_position, change.position, before.position);
      ELSIF verdict IN ('PASS', 'partly_automated', 'not_applicable') THEN
        rule.open_position := NULL;
      END IF;
    END IF;
    IF rule.known_at IS NOT NULL THEN
      INSERT INTO public.rule_states (
        tenant_id, organization_id, "check", severity, status, reason, known_at, open_position, last_position, last_number)
      VALUES (wanted_tenant, wanted_organization, one."check", coalesce(one.severity, rule.severity), rule.status, rule.reason,
        rule.known_at, rule.open_position, rule.last_position, rule.last_number)
      ON CONFLICT (tenant_id, organization_id, "check") DO UPDATE SET severity = excluded.severity, status = excluded.status,
        reason = excluded.reason, known_at = excluded.known_at, open_position = excluded.open_position,
        last_position = excluded.last_position, last_number = excluded.last_number;
    END IF;
    CONTINUE WHEN NOT decides;
    is_known := is_known OR scanstream.is_readable(verdict);
    IF given_is_scan THEN
      IF verdict = 'FAIL' THEN failing := failing || one."check"; END IF;
    ELSE
      PERFORM scanstream.mark_day(organization, seen_at,
        CASE WHEN verdict = 'FAIL' THEN ARRAY[one."check"] ELSE '{}' END,
        CASE WHEN verdict = 'FAIL' THEN '{}' ELSE ARRAY[one."check"] END, true, scanstream.is_readable(verdict));
    END IF;
  END LOOP;
  IF given_is_scan AND is_known THEN
    PERFORM scanstream.mark_day(organization, each AT TIME ZONE 'UTC', failing, '{}', false, true)
    FROM generate_series(date_trunc('day', began AT TIME ZONE 'UTC'),
      -- The first moment of a day belongs to it, the end of a look does not.
      greatest(began, looked_to - interval '1 millisecond') AT TIME ZONE 'UTC', interval '1 day') AS each;
  END IF;

  UPDATE public.organizations SET pass = counted.pass, fail = counted.fail, manual = counted.manual,
    not_applicable = counted.not_applicable, unknown = counted.unknown, cat1_open = counted.cat1, cat2_open = counted.cat2,
    cat3_open = counted.cat3, open_exposures = counted.open
  FROM (
    SELECT count(*) FILTER (WHERE status = 'PASS') AS pass, count(*) FILTER (WHERE status = 'FAIL') AS fail,
      count(*) FILTER (WHERE reason IN ('needs_review', 'rule_changed', 'not_automated', 'partly_automated')) AS manual,
      count(*) FILTER (WHERE reason = 'not_applicable') AS not_applicable,
      count(*) FILTER (WHERE NOT scanstream.is_readable(reason)) AS unknown,
      count(*) FILTER (WHERE status = 'FAIL' AND severity = 'high') AS cat1,
      count(*) FILTER (WHERE status = 'FAIL' AND severity = 'medium') AS cat2,
      count(*) FILTER (WHERE status = 'FAIL' AND severity = 'low') AS cat3,
      count(*) FILTER (WHERE open_position IS NOT NULL) AS open
    FROM public.rule_states WHERE tenant_id = wanted_tenant AND organization_id = wanted_organization
  ) AS counted
  WHERE organizations.tenant_id = wanted_tenant AND organizations.id = wanted_organization;
END
$$;
--> statement-breakpoint
-- What a scan found, when its producer has ended it: an expired or a deleted one may lack findings that it would have sent.
CREATE FUNCTION scanstream.keep_scan() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  organization constant uuid := scanstream.organization_of(NEW.tenant_id, NEW.org_url);
  ranks constant text[] := scanstream.verdict_ranks();
  began constant timestamptz(3) := least(coalesce(NEW.started_at, NEW.created_at), NEW.ended_at);
  seen jsonb;
BEGIN
  IF organization IS NULL THEN RETURN NULL; END IF;
  SELECT jsonb_agg(jsonb_build_object('check', "check", 'severity', severity, 'verdict', ranks[worst], 'at', began, 'cause', 'scan',
    'fingerprints', fingerprints) ORDER BY "check") INTO seen
  FROM (
    SELECT "check", min(worst) AS worst, (ARRAY['high', 'medium', 'low'])[min(severity)] AS severity,
      (array_agg(fingerprint ORDER BY fingerprint COLLATE "C") FILTER (WHERE rank = worst OR (status = 'MANUAL' AND ranks[worst] <> 'FAIL')))[1:100]
        AS fingerprints
    FROM (
      SELECT ranked.*, min(rank) OVER (PARTITION BY "check") AS worst
      FROM (
        SELECT found."check", found.fingerprint, found.status,
          array_position(ranks, CASE WHEN found.status = 'MANUAL' THEN coalesce(found.reason, 'needs_review') ELSE found.status END) AS rank,
          array_position(ARRAY['high', 'medium', 'low'], found.severity) AS severity,
          found.advisory AND NOT bool_and(found.advisory) OVER (PARTITION BY found."check") AS is_left_out
        FROM public.findings AS found WHERE found.tenant_id = NEW.tenant_id AND found.scan_id = NEW.id
      ) AS ranked
      WHERE NOT is_left_out
    ) AS counted
    GROUP BY "check"
  ) AS of_checks;
  IF seen IS NOT NULL THEN
    PERFORM scanstream.keep_verdicts(NEW.tenant_id, organization, NEW.id, true, began, NEW.ended_at, NULL, seen);
    INSERT INTO public.looks (tenant_id, organization_id, source_id, known_from, known_to, verdicts)
    SELECT NEW.tenant_id, organization, NEW.id, began, NEW.ended_at, jsonb_object_agg(each ->> 'check', each ->> 'verdict')
    FROM jsonb_array_elements(seen) AS each
    ON CONFLICT DO NOTHING;
  END IF;
  UPDATE public.organizations SET last_scan_id = NEW.id, last_scan_at = NEW.ended_at
  WHERE tenant_id = NEW.tenant_id AND id = organization AND (last_scan_at IS NULL OR last_scan_at <= NEW.ended_at);
  RETURN NULL;
END
$$;
--> statement-breakpoint
-- The time that a monitor knows, up to this moment. Silence that is longer than a monitor may be silent is a gap.
CREATE FUNCTION scanstream.extend_look(monitor public.monitors, first_at timestamptz, last_at timestamptz, is_gap boolean) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  last public.looks;
  longest constant interval := make_interval(secs => CASE WHEN is_gap THEN 0 ELSE greatest(3 * monitor.interval_seconds, 60) END);
BEGIN
  SELECT * INTO last FROM public.looks
  WHERE tenant_id = monitor.tenant_id AND organization_id = monitor.organization_id AND source_id = monitor.id
  ORDER BY known_from DESC LIMIT 1;
  IF FOUND AND first_at <= last.known_to + longest THEN
    UPDATE public.looks SET known_to = last_at
    WHERE tenant_id = last.tenant_id AND organization_id = last.organization_id AND source_id = last.source_id
      AND known_from = last.known_from AND known_to < last_at;
  ELSE
    INSERT INTO public.looks (tenant_id, organization_id, source_id, known_from, known_to)
    VALUES (monitor.tenant_id, monitor.organization_id, monitor.id, first_at, last_at) ON CONFLICT DO NOTHING;
  END IF;
END
$$;
--> statement-breakpoint
CREATE FUNCTION scanstream.keep_look() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  looked_at constant timestamptz(3) := least(NEW.last_look_at, now());
BEGIN
  NEW.organization_id := scanstream.organization_of(NEW.tenant_id, NEW.org_url);
  IF NEW.organization_id IS NULL OR looked_at IS NULL OR TG_OP = 'INSERT' THEN RETURN NEW; END IF;
  IF NEW.last_look_at IS DISTINCT FROM OLD.last_look_at THEN
    PERFORM scanstream.extend_look(NEW, looked_at, looked_at, NEW.gap_to IS DISTINCT FROM OLD.gap_to);
  END IF;
  RETURN NEW;
END
$$;
--> statement-breakpoint
-- What became of rules by the changes of a monitor that were just stored. The verdict of a rule is what the line says; without that,
-- the worst of its findings that are there. Changes that were seen at one moment count together.
CREATE FUNCTION scanstream.keep_changes() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  ranks constant text[] := scanstream.verdict_ranks();
  given record;
  monitor public.monitors;
  first_number bigint;
  first_at timestamptz(3);
  last_at timestamptz(3);
  looked_before timestamptz(3);
  began timestamptz(3);
  seen jsonb;
BEGIN
  FOR given IN
    SELECT tenant_id, monitor_id, min(number) AS first_number, min(seen_at) AS first_at, max(seen_at) AS last_at
    FROM stored GROUP BY tenant_id, monitor_id
  LOOP
    SELECT * INTO monitor FROM public.monitors WHERE tenant_id = given.tenant_id AND id = given.monitor_id;
    first_number := given.first_number;
    first_at := least(given.first_at, now());
    last_at := least(given.last_at, now());
    monitor.organization_id := scanstream.organization_of(monitor.tenant_id, monitor.org_url);
    CONTINUE WHEN monitor.organization_id IS NULL;
    WITH ranked AS (
      SELECT c.*,
        array_position(ranks, CASE WHEN c.to_status = 'MANUAL' THEN coalesce(c.to_reason, 'needs_review') ELSE c.to_status END) AS rank,
        array_position(ranks, CASE WHEN c.rule_status = 'MANUAL' THEN coalesce(c.rule_reason, 'needs_review') ELSE c.rule_status END) AS stated
      FROM public.changes AS c
      WHERE c.tenant_id = monitor.tenant_id AND c.monitor_id = monitor.id
        AND c."check" = ANY (ARRAY(SELECT DISTINCT stored."check" FROM stored WHERE stored.monitor_id = monitor.id))
        AND (c.number >= first_number OR EXISTS (SELECT FROM stored WHERE stored.rule_status IS NULL))
    ), moves AS (
      SELECT ranked.*, lag(rank) OVER (PARTITION BY "check", fingerprint ORDER BY number) AS rank_before FROM ranked
    ), counted AS (
      -- How many findings of each rank there are after each move; the least rank of which there is one is the rule's.
      SELECT moves.*, least(
        CASE WHEN sum((rank IS NOT DISTINCT FROM 1)::int - (rank_before IS NOT DISTINCT FROM 1)::int) OVER w > 0 THEN 1 END,
        CASE WHEN sum((rank IS NOT DISTINCT FROM 2)::int - (rank_before IS NOT DISTINCT FROM 2)::int) OVER w > 0 THEN 2 END,
        CASE WHEN sum((rank IS NOT DISTINCT FROM 3)::int - (rank_before IS NOT DISTINCT FROM 3)::int) OVER w > 0 THEN 3 END,
        CASE WHEN sum((rank IS NOT DISTINCT FROM 4)::int - (rank_before IS NOT DISTINCT FROM 4)::int) OVER w > 0 THEN 4 END,
        CASE WHEN sum((rank IS NOT DISTINCT FROM 5)::int - (rank_before IS NOT DISTINCT FROM 5)::int) OVER w > 0 THEN 5 END,
        CASE WHEN sum((rank IS NOT DISTINCT FROM 6)::int - (rank_before IS NOT DISTINCT FROM 6)::int) OVER w > 0 THEN 6 END,
        CASE WHEN sum((rank IS NOT DISTINCT FROM 7)::int - (rank_before IS NOT DISTINCT FROM 7)::int) OVER w > 0 THEN 7 END,
        CASE WHEN sum((rank IS NOT DISTINCT FROM 8)::int - (rank_before IS NOT DISTINCT FROM 8)::int) OVER w > 0 THEN 8 END,
        CASE WHEN sum((rank IS NOT DISTINCT FROM 9)::int - (rank_before IS NOT DISTINCT FROM 9)::int) OVER w > 0 THEN 9 END,
        CASE WHEN sum((rank IS NOT DISTINCT FROM 10)::int - (rank_before IS NOT DISTINCT FROM 10)::int) OVER w > 0 THEN 10 END,
        CASE WHEN sum((rank IS NOT DISTINCT FROM 11)::int - (rank_before IS NOT DISTINCT FROM 11)::int) OVER w > 0 THEN 11 END,
        CASE WHEN sum((rank IS NOT DISTINCT FROM 12)::int - (rank_before IS NOT DISTINCT FROM 12)::int) OVER w > 0 THEN 12 END,
        CASE WHEN sum((rank IS NOT DISTINCT FROM 13)::int - (rank_before IS NOT DISTINCT FROM 13)::int) OVER w > 0 THEN 13 END
      ) AS worst
      FROM moves WINDOW w AS (PARTITION BY "check" ORDER BY number)
    ), moments AS (
      -- A line that names the verdict of its rule decides; a rule without findings was not read.
      SELECT "check", seen_at, max(number) AS number,
        coalesce(min(stated), (array_agg(worst ORDER BY number DESC))[1], array_position(ranks, 'unreadable')) AS rank
      FROM counted WHERE number >= first_number GROUP BY "check", seen_at
    )
    SELECT jsonb_agg(jsonb_build_object('check', moments."check", 'severity', moved.severity, 'verdict', ranks[moments.rank], 'at', moments.seen_at,
      'cause', moved.cause, 'actor', moved.actor, 'fingerprints', moved.fingerprints) ORDER BY moments.number) INTO seen
    FROM moments CROSS JOIN LATERAL (
      SELECT (array_agg(cause ORDER BY decides DESC, number))[1] AS cause, max(rule_severity) AS severity,
        (array_agg(actor ORDER BY decides DESC, number) FILTER (WHERE jsonb_typeof(actor) = 'object'))[1] AS actor,
        coalesce((array_agg(fingerprint ORDER BY fingerprint COLLATE "C") FILTER (WHERE decides))[1:100], '{}') AS fingerprints
      FROM (
        SELECT counted.cause, counted.rule_severity, counted.number, counted.fingerprint, counted.explained_by -> 0 -> 'actor' AS actor,
          counted.to_status IS NOT DISTINCT FROM
            CASE WHEN ranks[moments.rank] IN ('PASS', 'FAIL') THEN ranks[moments.rank] ELSE 'MANUAL' END AS decides
        FROM counted
        WHERE counted."check" = moments."check" AND counted.seen_at = moments.seen_at AND counted.number >= first_number
      ) AS each
    ) AS moved;
    SELECT max(known_to) INTO looked_before FROM public.looks
    WHERE tenant_id = monitor.tenant_id AND organization_id = monitor.organization_id AND source_id = monitor.id;
    PERFORM scanstream.extend_look(monitor, first_at, last_at, false);
    SELECT min(known_from) INTO began FROM public.looks
    WHERE tenant_id = monitor.tenant_id AND organization_id = monitor.organization_id AND source_id = monitor.id;
    PERFORM scanstream.keep_verdicts(
      monitor.tenant_id, monitor.organization_id, monitor.id, false, began, last_at, looked_before, seen);
  END LOOP;
  RETURN NULL;
END
$$;
--> statement-breakpoint
-- One step of forgetting the history that is older, over all tenants, which the application does not see; true: more steps are needed. The change that opened an open
-- exposure stays, and what a monitor that still looks said last.
CREATE FUNCTION scanstream.delete_old_history(older_than_days double precision, max_rows integer) RETURNS boolean
LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  cutoff constant timestamptz := now() - make_interval(secs => greatest(older_than_days, 1) * 86400);
  removed integer;
  total integer := 0;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtext('scanstream.delete_old_history')) THEN RETURN false; END IF;
  DELETE FROM public.verdicts WHERE ctid = ANY (ARRAY(
    SELECT old.ctid FROM public.verdicts AS old
    WHERE old.known_at < cutoff
      AND NOT EXISTS (
        SELECT FROM public.rule_states AS rule WHERE rule.tenant_id = old.tenant_id AND rule.organization_id = old.organization_id
          AND rule."check" = old."check" AND rule.open_position = old.position)
      AND (old.is_scan
        OR EXISTS (
          SELECT FROM public.verdicts AS later WHERE later.tenant_id = old.tenant_id AND later.organization_id = old.organization_id
            AND later."check" = old."check" AND later.source_id = old.source_id
            AND (later.known_at, later.position) > (old.known_at, old.position) AND later.known_at < cutoff)
        OR NOT EXISTS (
          SELECT FROM public.looks WHERE looks.tenant_id = old.tenant_id AND looks.organization_id = old.organization_id
            AND looks.source_id = old.source_id AND looks.known_to >= cutoff))
    LIMIT max_rows));
  GET DIAGNOSTICS removed = ROW_COUNT;
  total := greatest(total, removed);
  DELETE FROM public.looks WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM public.looks WHERE known_from < cutoff AND known_to < cutoff LIMIT max_rows));
  GET DIAGNOSTICS removed = ROW_COUNT;
  total := greatest(total, removed);
  DELETE FROM public.organization_days WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM public.organization_days WHERE day < (cutoff AT TIME ZONE 'UTC')::date LIMIT max_rows));
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN greatest(total, removed) >= max_rows;
END
$$;
--> statement-breakpoint
REVOKE ALL ON FUNCTION scanstream.delete_tenant(text, integer), scanstream.find_due_tenant(text, double precision), scanstream.find_api_key(text),
  scanstream.register_user(text), scanstream.revoke_api_key(uuid), scanstream.delete_old_history(double precision, integer), scanstream.verdict_ranks(), scanstream.is_readable(text),
  scanstream.mark_day(public.organizations, timestamptz, text[], text[], boolean, boolean),
  scanstream.keep_verdicts(uuid, uuid, uuid, boolean, timestamptz, timestamptz, timestamptz, jsonb), scanstream.keep_scan(),
  scanstream.extend_look(public.monitors, timestamptz, timestamptz, boolean), scanstream.keep_look(), scanstream.keep_changes()
  FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION scanstream.delete_tenant(text, integer), scanstream.find_due_tenant(text, double precision), scanstream.find_api_key(text),
  scanstream.register_user(text), scanstream.revoke_api_key(uuid), scanstream.delete_old_history(double precision, integer)
  TO scanstream_app;
--> statement-breakpoint
RESET ROLE;
--> statement-breakpoint
REVOKE CREATE ON SCHEMA scanstream FROM scanstream_admin;
--> statement-breakpoint
CREATE TRIGGER scans_organization AFTER INSERT ON public.scans
  FOR EACH ROW WHEN (NEW.org_url IS NOT NULL) EXECUTE FUNCTION scanstream.add_organization();
--> statement-breakpoint
-- A report of the producer names this column, and what lets a scan expire or deletes it does not.
CREATE TRIGGER scans_history AFTER UPDATE OF updated_at ON public.scans
  FOR EACH ROW WHEN (OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL)
  EXECUTE FUNCTION scanstream.keep_scan();
--> statement-breakpoint
CREATE TRIGGER monitors_history BEFORE INSERT OR UPDATE OF last_look_at, started_at ON public.monitors
  FOR EACH ROW EXECUTE FUNCTION scanstream.keep_look();
--> statement-breakpoint
CREATE TRIGGER changes_history AFTER INSERT ON public.changes
  REFERENCING NEW TABLE AS stored FOR EACH STATEMENT EXECUTE FUNCTION scanstream.keep_changes();
