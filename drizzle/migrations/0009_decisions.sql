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
ALTER TABLE "decisions" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "decisions" ADD CONSTRAINT "decisions_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "decisions_not_ended" ON "decisions" USING btree ("tenant_id","kind","check",md5(coalesce("resource", '')),md5(coalesce("org_url", ''))) WHERE "decisions"."ended_at" is null;--> statement-breakpoint
CREATE INDEX "decisions_of_tenant" ON "decisions" USING btree ("tenant_id","created_at","id");--> statement-breakpoint
CREATE POLICY "decisions_of_tenant" ON "decisions" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("decisions"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("decisions"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "decisions_of_admin" ON "decisions" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');--> statement-breakpoint
-- What drizzle-kit does not write.
ALTER TABLE public.decisions FORCE ROW LEVEL SECURITY;--> statement-breakpoint
REVOKE ALL ON public.decisions FROM PUBLIC;--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON public.decisions TO scanstream_admin;--> statement-breakpoint
-- What was decided, and by whom, is never changed: it ends.
GRANT SELECT, INSERT, UPDATE (ended_at, ended_reason, ended_by, ended_scan_id) ON public.decisions TO scanstream_app;--> statement-breakpoint

CREATE OR REPLACE TRIGGER decisions_audit AFTER INSERT OR DELETE ON public.decisions
  FOR EACH ROW EXECUTE FUNCTION scanstream.write_audit('decision', 'id');--> statement-breakpoint
CREATE OR REPLACE TRIGGER decisions_ended_audit AFTER UPDATE OF ended_at ON public.decisions
  FOR EACH ROW EXECUTE FUNCTION scanstream.write_audit('decision', 'id', 'decision.ended');--> statement-breakpoint

-- A scan that was registered after the attestation and found a FAIL of its check ends it, with the scan: whatever completes the
-- scan, and once. The scan's producer is not the one who ended it, so the audit trail names the gateway. The organization's
-- address is compared without the slash at its end, as decisions keep it.
CREATE OR REPLACE FUNCTION scanstream.end_contradicted_attestations() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  actor constant text := coalesce(current_setting('app.actor', true), '');
BEGIN
  PERFORM set_config('app.actor', '', true);
  UPDATE public.decisions SET ended_at = now(), ended_reason = 'contradicted', ended_scan_id = NEW.id
  WHERE decisions.tenant_id = NEW.tenant_id AND decisions.kind = 'attestation' AND decisions.status <> 'FAIL'
    AND decisions.ended_at IS NULL AND (decisions.expires_at IS NULL OR decisions.expires_at >= now())
    AND decisions.created_at <= NEW.created_at
    AND (decisions.org_url IS NULL OR decisions.org_url = rtrim(NEW.org_url, '/'))
    AND EXISTS (
      SELECT FROM public.findings
      WHERE findings.tenant_id = NEW.tenant_id AND findings.scan_id = NEW.id
        AND findings."check" = decisions."check" AND findings.status = 'FAIL' AND NOT findings.advisory
    );
  PERFORM set_config('app.actor', actor, true);
  RETURN NULL;
END
$$;--> statement-breakpoint
REVOKE ALL ON FUNCTION scanstream.end_contradicted_attestations() FROM PUBLIC;--> statement-breakpoint
CREATE OR REPLACE TRIGGER scans_contradict_attestations AFTER UPDATE OF status ON public.scans
  FOR EACH ROW WHEN (NEW.status = 'completed' AND OLD.status <> 'completed')
  EXECUTE FUNCTION scanstream.end_contradicted_attestations();
