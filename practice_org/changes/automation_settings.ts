import { fieldOf, found, withField, type Draft } from "./draft.ts";
import { setPolicyStatus, updatePolicy } from "./policy_edits.ts";
import type { Setting } from "./setting.ts";
import type { OrgContents, PolicyWithRules } from "../objects/org_contents.ts";

/** What becomes of users who are away for long. */
export const automationSettings: readonly Setting[] = [
  {
    area: "Automations",
    label: "Automation for inactive users",
    present: (contents) => {
      const { policy } = automationOf(contents);
      return `${policy.name}: ${policy.status}`;
    },
    changes: [
      {
        name: "automation-off",
        label: "Switch off the automation for inactive users",
        make: setAutomation("INACTIVE"),
      },
      { name: "automation-on", label: "Switch on the automation for inactive users", make: setAutomation("ACTIVE") },
    ],
  },
  {
    area: "Automations",
    label: "Inactivity before suspension",
    present: (contents) => `${String(fieldOf(automationOf(contents).policy, inactivityDays))} days`,
    changes: [
      { name: "automation-late", label: "Suspend users after 90 days", make: setInactivity(90) },
      { name: "automation-early", label: "Suspend users after 35 days", make: setInactivity(35) },
    ],
  },
];

/** The one that is on at the start, or the first. */
function automationOf(contents: OrgContents): PolicyWithRules {
  const automations = contents.policies.filter(({ policy }) => policy.type === "USER_LIFECYCLE");
  return found(automations[0], "automation");
}

function setAutomation(status: "ACTIVE" | "INACTIVE") {
  return (draft: Draft) => setPolicyStatus(draft, automationOf(draft.contents), status);
}

const inactivityDays = ["conditions", "people", "users", "inactivity", "number"];

function setInactivity(days: number) {
  return (draft: Draft) =>
    updatePolicy(draft, automationOf(draft.contents), (policy) => withField(policy, inactivityDays, days));
}
