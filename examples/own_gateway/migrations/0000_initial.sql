CREATE TABLE "answers" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"tenant_id" uuid NOT NULL,
	"created_by" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "answers" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "boards" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"tenant_id" uuid NOT NULL
);
--> statement-breakpoint
ALTER TABLE "boards" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "jobs" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"tenant_id" uuid NOT NULL,
	"ended_at" timestamp with time zone
);
--> statement-breakpoint
ALTER TABLE "jobs" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE POLICY "answers_of_tenant" ON "answers" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("answers"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("answers"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "answers_of_admin" ON "answers" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');--> statement-breakpoint
CREATE POLICY "boards_of_tenant" ON "boards" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("boards"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("boards"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "boards_of_admin" ON "boards" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');--> statement-breakpoint
CREATE POLICY "jobs_of_tenant" ON "jobs" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("jobs"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("jobs"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "jobs_of_admin" ON "jobs" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');