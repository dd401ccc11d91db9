ALTER TABLE "findings" ADD COLUMN "coverage" text DEFAULT 'full' NOT NULL;--> statement-breakpoint
ALTER TABLE "findings" ADD COLUMN "coverage_reason" text;--> statement-breakpoint
ALTER TABLE "findings" ADD COLUMN "advisory" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "findings" ADD CONSTRAINT "findings_coverage" CHECK ("findings"."coverage" in ('full', 'partial'));