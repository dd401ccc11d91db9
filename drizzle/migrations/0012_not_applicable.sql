-- Rules that do not apply are counted by themselves; counts that were stored before keep them in `manual`.
ALTER TABLE "monitors" DROP CONSTRAINT "monitors_counts";--> statement-breakpoint
ALTER TABLE "scans" DROP CONSTRAINT "scans_counts";--> statement-breakpoint
ALTER TABLE "monitors" ADD COLUMN "not_applicable" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "scans" ADD COLUMN "not_applicable" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "monitors" ADD CONSTRAINT "monitors_counts" CHECK (least("monitors"."checks_total", "monitors"."pass", "monitors"."fail", "monitors"."manual", "monitors"."not_applicable") >= 0);--> statement-breakpoint
ALTER TABLE "scans" ADD CONSTRAINT "scans_counts" CHECK (least("scans"."checks_total", "scans"."checks_done", "scans"."pass", "scans"."fail", "scans"."manual", "scans"."not_applicable") >= 0);--> statement-breakpoint
-- What drizzle-kit does not write. The functions that return counts, or send them, return and send this one too. Each is made from
-- its present definition, so that this migration takes back nothing that another one has changed in it.
CREATE FUNCTION pg_temp.with_not_applicable(changed regprocedure) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
  definition constant text := pg_get_functiondef(changed);
  counted constant text := regexp_replace(replace(replace(definition,
    'manual integer', 'manual integer, not_applicable integer'),
    '''manual'', NEW.manual', '''manual'', NEW.manual, ''not_applicable'', NEW.not_applicable'),
    '\m(scans|monitors|deleted)\.manual\M', '\1.manual, \1.not_applicable', 'g');
BEGIN
  IF counted = definition THEN
    RAISE EXCEPTION 'Cannot add not_applicable to %: expected a function that names the column manual', changed;
  END IF;
  RETURN counted;
END
$$;--> statement-breakpoint
DO $$ BEGIN EXECUTE pg_temp.with_not_applicable('scanstream.queue_scan_end()'); END $$;--> statement-breakpoint
GRANT CREATE ON SCHEMA scanstream TO scanstream_admin;--> statement-breakpoint
DO $$
DECLARE
  changed regprocedure;
  definition text;
BEGIN
  FOREACH changed IN ARRAY ARRAY[
    'scanstream.expire_stale_scans(double precision)', 'scanstream.mark_stale_monitors()', 'scanstream.delete_scan(uuid, integer)'
  ]::regprocedure[] LOOP
    definition := pg_temp.with_not_applicable(changed);
    -- As in 0002: what is asked beyond one tenant belongs to scanstream_admin.
    SET LOCAL ROLE scanstream_admin;
    -- A function whose columns change has to be dropped first.
    EXECUTE format('DROP FUNCTION %s', changed);
    EXECUTE definition;
    RESET ROLE;
  END LOOP;
END
$$;--> statement-breakpoint
DROP FUNCTION pg_temp.with_not_applicable(regprocedure);--> statement-breakpoint
SET LOCAL ROLE scanstream_admin;--> statement-breakpoint
REVOKE ALL ON FUNCTION scanstream.expire_stale_scans(double precision), scanstream.mark_stale_monitors(),
  scanstream.delete_scan(uuid, integer) FROM PUBLIC;--> statement-breakpoint
GRANT EXECUTE ON FUNCTION scanstream.expire_stale_scans(double precision), scanstream.mark_stale_monitors(),
  scanstream.delete_scan(uuid, integer) TO scanstream_app;--> statement-breakpoint
RESET ROLE;--> statement-breakpoint
REVOKE CREATE ON SCHEMA scanstream FROM scanstream_admin;
