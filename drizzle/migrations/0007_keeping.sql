CREATE TABLE "deleted_scans" (
	"tenant_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"deleted_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "deleted_scans_pkey" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "deleted_scans" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "scan_report_parts" (
	"tenant_id" uuid NOT NULL,
	"scan_id" uuid NOT NULL,
	"upload_id" uuid NOT NULL,
	"part" integer NOT NULL,
	"content" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "scan_report_parts_pkey" PRIMARY KEY("tenant_id","scan_id","upload_id","part")
);
--> statement-breakpoint
ALTER TABLE "scan_report_parts" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "scan_reports" (
	"tenant_id" uuid NOT NULL,
	"scan_id" uuid NOT NULL,
	"upload_id" uuid NOT NULL,
	"digest" text NOT NULL,
	"size_bytes" integer NOT NULL,
	"part_count" integer NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "scan_reports_pkey" PRIMARY KEY("tenant_id","scan_id"),
	CONSTRAINT "scan_reports_sizes" CHECK ("scan_reports"."size_bytes" >= 0 and "scan_reports"."part_count" > 0)
);
--> statement-breakpoint
ALTER TABLE "scan_reports" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "tenants" ADD COLUMN "deleted_scans" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "deleted_scans" ADD CONSTRAINT "deleted_scans_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "scan_report_parts" ADD CONSTRAINT "scan_report_parts_scan" FOREIGN KEY ("tenant_id","scan_id") REFERENCES "public"."scans"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "scan_reports" ADD CONSTRAINT "scan_reports_scan" FOREIGN KEY ("tenant_id","scan_id") REFERENCES "public"."scans"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "deleted_scans_by_time" ON "deleted_scans" USING btree ("deleted_at");--> statement-breakpoint
CREATE INDEX "monitors_ended" ON "monitors" USING btree ("ended_at") WHERE "monitors"."ended_at" is not null and "monitors"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "scans_ended" ON "scans" USING btree ("ended_at") WHERE "scans"."ended_at" is not null;--> statement-breakpoint
CREATE POLICY "deleted_scans_of_tenant" ON "deleted_scans" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("deleted_scans"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("deleted_scans"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "deleted_scans_of_admin" ON "deleted_scans" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');--> statement-breakpoint
CREATE POLICY "scan_report_parts_of_tenant" ON "scan_report_parts" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("scan_report_parts"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("scan_report_parts"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "scan_report_parts_of_admin" ON "scan_report_parts" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');--> statement-breakpoint
CREATE POLICY "scan_reports_of_tenant" ON "scan_reports" AS PERMISSIVE FOR ALL TO "scanstream_app" USING ("scan_reports"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH CHECK ("scan_reports"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "scan_reports_of_admin" ON "scan_reports" AS PERMISSIVE FOR ALL TO "scanstream_admin" USING (current_user = 'scanstream_admin') WITH CHECK (current_user = 'scanstream_admin');--> statement-breakpoint
-- What drizzle-kit does not write.
ALTER TABLE public.deleted_scans FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE public.scan_reports FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE public.scan_report_parts FORCE ROW LEVEL SECURITY;--> statement-breakpoint
-- It is compressed already.
ALTER TABLE public.scan_report_parts ALTER COLUMN content SET STORAGE EXTERNAL;--> statement-breakpoint
REVOKE ALL ON public.deleted_scans, public.scan_reports, public.scan_report_parts FROM PUBLIC;--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON public.deleted_scans, public.scan_reports, public.scan_report_parts TO scanstream_admin;--> statement-breakpoint
-- What was stored of a report, and that a scan was deleted, is not changed afterwards.
GRANT SELECT, INSERT ON public.deleted_scans, public.scan_reports, public.scan_report_parts TO scanstream_app;--> statement-breakpoint

-- Whatever deletes scans leaves their ids behind, but for a whole tenant's deletion, with which they go too. The tenant's row
-- makes deletions wait for each other, so that the counts are seen in the order in which they were committed.
CREATE OR REPLACE FUNCTION scanstream.keep_deleted_scans() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF current_setting('app.erasing', true) = 'tenant' THEN RETURN NULL; END IF;
  UPDATE public.tenants SET deleted_scans = tenants.deleted_scans + counted.count
  FROM (SELECT tenant_id, count(*) FROM gone GROUP BY tenant_id) AS counted WHERE tenants.id = counted.tenant_id;
  INSERT INTO public.deleted_scans (tenant_id, id)
  SELECT gone.tenant_id, gone.id FROM gone JOIN public.tenants ON tenants.id = gone.tenant_id
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;--> statement-breakpoint

-- After the insert, so that it also sees a deletion that the insert waited for.
CREATE OR REPLACE FUNCTION scanstream.refuse_deleted_scan() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF EXISTS (SELECT FROM public.deleted_scans WHERE tenant_id = NEW.tenant_id AND id = NEW.id) THEN
    RAISE EXCEPTION 'a scan with this id was deleted' USING ERRCODE = 'unique_violation', CONSTRAINT = 'scans_deleted';
  END IF;
  RETURN NULL;
END
$$;--> statement-breakpoint
REVOKE ALL ON FUNCTION scanstream.keep_deleted_scans(), scanstream.refuse_deleted_scan() FROM PUBLIC;--> statement-breakpoint

CREATE OR REPLACE TRIGGER scans_deleted AFTER DELETE ON public.scans
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION scanstream.keep_deleted_scans();--> statement-breakpoint
CREATE OR REPLACE TRIGGER scans_not_deleted AFTER INSERT ON public.scans
  FOR EACH ROW EXECUTE FUNCTION scanstream.refuse_deleted_scan();--> statement-breakpoint
-- What ends by its age is in no audit trail: nobody did it.
CREATE OR REPLACE TRIGGER scans_deleted_audit AFTER DELETE ON public.scans
  FOR EACH ROW WHEN (coalesce(current_setting('app.erasing', true), '') = '')
  EXECUTE FUNCTION scanstream.write_audit('scan', 'id');--> statement-breakpoint
CREATE OR REPLACE TRIGGER monitors_deleted_audit AFTER UPDATE OF deleted_at ON public.monitors
  FOR EACH ROW WHEN (NEW.deleted_at IS NOT NULL AND OLD.deleted_at IS NULL AND coalesce(current_setting('app.erasing', true), '') = '')
  EXECUTE FUNCTION scanstream.write_audit('monitor', 'id', 'monitor.deleted');--> statement-breakpoint
-- Its count of deleted scans is nobody's doing either.
DROP TRIGGER IF EXISTS tenants_audit ON public.tenants;--> statement-breakpoint
CREATE TRIGGER tenants_audit AFTER INSERT OR UPDATE OF name ON public.tenants
  FOR EACH ROW EXECUTE FUNCTION scanstream.write_audit('tenant', 'id');--> statement-breakpoint

-- As in 0002. The application deletes through these alone, each of them within the transaction's tenant or by age.
GRANT CREATE ON SCHEMA scanstream TO scanstream_admin;--> statement-breakpoint
SET LOCAL ROLE scanstream_admin;--> statement-breakpoint

-- The first to finish is the report of the scan; the parts of others go. Returns the digest of the report that is kept.
CREATE OR REPLACE FUNCTION scanstream.finish_report(wanted_scan uuid, wanted_upload uuid, given_digest text, given_size integer, given_parts integer)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  tenant constant uuid := nullif(current_setting('app.tenant_id', true), '')::uuid;
  kept record;
BEGIN
  INSERT INTO public.scan_reports (tenant_id, scan_id, upload_id, digest, size_bytes, part_count)
  VALUES (tenant, wanted_scan, wanted_upload, given_digest, given_size, given_parts) ON CONFLICT DO NOTHING;
  SELECT upload_id, digest INTO kept FROM public.scan_reports WHERE tenant_id = tenant AND scan_id = wanted_scan;
  DELETE FROM public.scan_report_parts WHERE tenant_id = tenant AND scan_id = wanted_scan AND upload_id <> kept.upload_id;
  RETURN kept.digest;
END
$$;--> statement-breakpoint

-- One step of a scan's deletion: it ends at once, so that nothing more is stored, and goes with its last findings. No row: there
-- is no such scan. Not deleted: more steps are needed.
CREATE OR REPLACE FUNCTION scanstream.delete_scan(wanted_id uuid, max_rows integer)
RETURNS TABLE (is_deleted boolean, tenant_id uuid, status text, pass integer, fail integer, manual integer, deleted_scans integer)
LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  tenant constant uuid := nullif(current_setting('app.tenant_id', true), '')::uuid;
  removed integer;
  deleted public.scans;
BEGIN
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

CREATE OR REPLACE FUNCTION scanstream.rename_tenant(wanted_name text) RETURNS SETOF uuid
LANGUAGE sql VOLATILE STRICT SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
  UPDATE public.tenants SET name = wanted_name
  WHERE id = nullif(current_setting('app.tenant_id', true), '')::uuid
  RETURNING id;
$$;--> statement-breakpoint

-- One step of a tenant's deletion: every table with a tenant_id, those first that no other refers to. Members and keys go with
-- the tenant in the last step, so that whoever began can go on. Null: the tenant is not there under this name.
CREATE OR REPLACE FUNCTION scanstream.delete_tenant(wanted_name text, max_rows integer) RETURNS text
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
  PERFORM set_config('app.erasing', 'tenant', true);
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
$$;--> statement-breakpoint

-- One step of what RETENTION_DAYS asks for, over all tenants, by one gateway at a time. The scans and monitors that are gone, and
-- one row without an id where there is more to do; no row: nothing is left to do here.
CREATE OR REPLACE FUNCTION scanstream.delete_expired(older_than_days double precision, max_rows integer)
RETURNS TABLE (kind text, id uuid, tenant_id uuid)
LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  -- Never less than a day: the caller may be wrong, but not delete what was just made.
  cutoff constant timestamptz := now() - make_interval(secs => greatest(older_than_days, 1) * 86400);
  max_parents constant integer := least(max_rows, 500);
  old uuid[];
  removed integer;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtext('scanstream.delete_expired')) THEN RETURN; END IF;
  PERFORM set_config('app.erasing', 'retention', true);

  old := ARRAY(
    SELECT scans.id FROM public.scans WHERE scans.ended_at < cutoff ORDER BY scans.ended_at LIMIT max_parents FOR UPDATE SKIP LOCKED);
  DELETE FROM public.findings WHERE ctid = ANY (ARRAY(
    SELECT findings.ctid FROM public.scans
    JOIN public.findings ON findings.tenant_id = scans.tenant_id AND findings.scan_id = scans.id
    WHERE scans.id = ANY (old) LIMIT max_rows));
  GET DIAGNOSTICS removed = ROW_COUNT;
  IF removed < max_rows THEN
    RETURN QUERY DELETE FROM public.scans WHERE scans.id = ANY (old) RETURNING 'scan', scans.id, scans.tenant_id;
  END IF;
  IF cardinality(old) > 0 THEN
    RETURN QUERY SELECT 'more', NULL::uuid, NULL::uuid;
    RETURN;
  END IF;

  old := ARRAY(
    SELECT monitors.id FROM public.monitors WHERE monitors.ended_at < cutoff AND monitors.deleted_at IS NULL
    ORDER BY monitors.ended_at LIMIT max_parents FOR UPDATE SKIP LOCKED);
  DELETE FROM public.changes WHERE ctid = ANY (ARRAY(
    SELECT changes.ctid FROM public.monitors
    JOIN public.changes ON changes.tenant_id = monitors.tenant_id AND changes.monitor_id = monitors.id
    WHERE monitors.id = ANY (old) LIMIT max_rows));
  GET DIAGNOSTICS removed = ROW_COUNT;
  IF removed < max_rows THEN
    RETURN QUERY UPDATE public.monitors SET deleted_at = now(), doorbell_hash = NULL WHERE monitors.id = ANY (old)
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

REVOKE ALL ON FUNCTION scanstream.finish_report(uuid, uuid, text, integer, integer), scanstream.delete_scan(uuid, integer),
  scanstream.rename_tenant(text), scanstream.delete_tenant(text, integer), scanstream.delete_expired(double precision, integer) FROM PUBLIC;--> statement-breakpoint
GRANT EXECUTE ON FUNCTION scanstream.finish_report(uuid, uuid, text, integer, integer), scanstream.delete_scan(uuid, integer),
  scanstream.rename_tenant(text), scanstream.delete_tenant(text, integer), scanstream.delete_expired(double precision, integer) TO scanstream_app;--> statement-breakpoint
RESET ROLE;--> statement-breakpoint
REVOKE CREATE ON SCHEMA scanstream FROM scanstream_admin;
