CREATE TABLE "api_keys" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"prefix" text NOT NULL,
	"hash" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"revoked_at" timestamp (3) with time zone,
	"last_used_at" timestamp (3) with time zone,
	CONSTRAINT "api_keys_hash_is_sha256_hex" CHECK ("api_keys"."hash" ~ '^[0-9a-f]{64}$'),
	CONSTRAINT "api_keys_name_length" CHECK (length("api_keys"."name") between 1 and 200)
);
--> statement-breakpoint
ALTER TABLE "api_keys" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
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
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "findings_pkey" PRIMARY KEY("tenant_id","scan_id","fingerprint"),
	CONSTRAINT "findings_status" CHECK ("findings"."status" in ('PASS', 'FAIL', 'MANUAL')),
	CONSTRAINT "findings_severity" CHECK ("findings"."severity" in ('high', 'medium', 'low'))
);
--> statement-breakpoint
ALTER TABLE "findings" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "memberships" (
	"tenant_id" uuid NOT NULL,
	"user_id" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "memberships_pkey" PRIMARY KEY("tenant_id","user_id")
);
--> statement-breakpoint
ALTER TABLE "memberships" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "scans" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"tenant_id" uuid NOT NULL,
	"org_url" text,
	"client_id" text,
	"status" text DEFAULT 'pending' NOT NULL,
	"checks_total" integer DEFAULT 0 NOT NULL,
	"checks_done" integer DEFAULT 0 NOT NULL,
	"pass" integer DEFAULT 0 NOT NULL,
	"fail" integer DEFAULT 0 NOT NULL,
	"manual" integer DEFAULT 0 NOT NULL,
	"cancel_requested" boolean DEFAULT false NOT NULL,
	"created_by" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "scans_tenant_id_id" UNIQUE("tenant_id","id"),
	CONSTRAINT "scans_status" CHECK ("scans"."status" in ('pending', 'running', 'completed', 'cancelled', 'failed', 'expired')),
	CONSTRAINT "scans_ended_at" CHECK (("scans"."ended_at" is not null) = ("scans"."status" not in ('pending', 'running'))),
	CONSTRAINT "scans_counts" CHECK (least("scans"."checks_total", "scans"."checks_done", "scans"."pass", "scans"."fail", "scans"."manual") >= 0)
);
--> statement-breakpoint
ALTER TABLE "scans" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "tenants" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "tenants_name_length" CHECK (length("tenants"."name") between 1 and 200)
);
--> statement-breakpoint
ALTER TABLE "tenants" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "users" (
	"sub" text PRIMARY KEY NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "users_sub_length" CHECK (length("users"."sub") between 1 and 255)
);
--> statement-breakpoint
ALTER TABLE "users" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "findings" ADD CONSTRAINT "findings_scan" FOREIGN KEY ("tenant_id","scan_id") REFERENCES "public"."scans"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_user_id_users_sub_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("sub") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "scans" ADD CONSTRAINT "scans_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "api_keys_hash" ON "api_keys" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "api_keys_of_tenant" ON "api_keys" USING btree ("tenant_id","created_at","id");--> statement-breakpoint
CREATE INDEX "findings_of_scan" ON "findings" USING btree ("tenant_id","scan_id","created_at","fingerprint");--> statement-breakpoint
CREATE INDEX "memberships_user_id" ON "memberships" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "scans_of_tenant" ON "scans" USING btree ("tenant_id","created_at","id");--> statement-breakpoint
CREATE INDEX "scans_unfinished" ON "scans" USING btree ("updated_at") WHERE "scans"."status" in ('pending', 'running');--> statement-breakpoint
CREATE POLICY "api_keys_of_tenant" ON "api_keys" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("api_keys"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("api_keys"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "api_keys_of_admin" ON "api_keys" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');--> statement-breakpoint
CREATE POLICY "findings_of_tenant" ON "findings" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("findings"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("findings"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "findings_of_admin" ON "findings" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');--> statement-breakpoint
CREATE POLICY "memberships_of_tenant" ON "memberships" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("memberships"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("memberships"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "memberships_of_admin" ON "memberships" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');--> statement-breakpoint
CREATE POLICY "scans_of_tenant" ON "scans" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("scans"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("scans"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "scans_of_admin" ON "scans" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');--> statement-breakpoint
CREATE POLICY "tenants_of_tenant" ON "tenants" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("tenants"."id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("tenants"."id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "tenants_of_admin" ON "tenants" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');--> statement-breakpoint
CREATE POLICY "users_of_tenant" ON "users" AS PERMISSIVE FOR ALL TO "scanstream_app" USING (exists (select 1 from memberships where memberships.user_id = users.sub and memberships.tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid))) WITH CHECK (exists (select 1 from memberships where memberships.user_id = users.sub and memberships.tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid)));--> statement-breakpoint
CREATE POLICY "users_of_admin" ON "users" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');