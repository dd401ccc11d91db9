import * as v from "valibot";
import { attestedStatusSchema } from "./decision.ts";
import { described, type Output } from "./primitives.ts";

/** Decisions of people in a report: each stands next to a verdict and changes none. */

const expires = described(v.nullable(v.string()), "ISO 8601 date or time after which it no longer holds; null: never");

const decisionSource = described(
  v.exactOptional(v.picklist(["gateway", "checklist"])),
  "Where it is kept: at the gateway, or as an answer in a checklist; absent: in a file",
);

/** Why a person accepted a finding for a time; it changes the exit code, never the status. */
export const waiverSchema = v.object({
  reason: v.string(),
  expires,
  by: v.exactOptional(
    described(v.string(), "Who waived it; absent: nobody, as it meets the organization's own limit (since 1.2)"),
  ),
  source: decisionSource,
});

/** A person's verdict where the API gives no evidence, or only a part of it. */
export const attestationSchema = v.object({
  status: attestedStatusSchema,
  reason: v.string(),
  by: v.string(),
  expires,
  source: decisionSource,
});

const milestoneSchema = v.object({
  description: v.string(),
  date: described(v.nullable(v.string()), "ISO 8601 date or time; null: none was set"),
});

/** When a person plans to have remediated a finding, which goes on failing until then. */
export const planSchema = v.object({
  remediation_date: described(v.string(), "ISO 8601 date or time"),
  milestones: v.array(milestoneSchema),
  reason: v.string(),
  overdue: described(v.boolean(), "true: the date has passed, and the finding is open and not waived"),
});

export type Waiver = Output<typeof waiverSchema>;
export type Plan = Output<typeof planSchema>;
export type Milestone = Output<typeof milestoneSchema>;
export type Attestation = Output<typeof attestationSchema>;
