import { countOf } from "../../shared/outcome_text.ts";
import { decide, defineCheck, type Check, type CheckContext } from "./check.ts";
import type { OrgPolicy } from "../org_policy/document.ts";
import type { CollectedArtifacts, Evidence, JsonList } from "../evidence/artifacts.ts";
import { judgeList, Subject, withPartialCoverage, type FindingDraft } from "./evaluating/finding_drafts.ts";
import { least, most, type Setting, expectationOf, judgeSetting, showLimit, upTo } from "./parameter.ts";
import {
  directoryEvidenceFor,
  directoryFields,
  directoryOfPolicy,
  unlessDirectory,
  wholePasswordPolicies,
  type DirectoryEvidence,
} from "./evaluating/directory.ts";
import { listTexts, resourceOf } from "./parsing/names.ts";

/** Demands on each active password policy. */
const settings: Readonly<Record<string, PasswordSetting>> = {
  authenticator_password_minimum_length_15: {
    path: "settings.password.complexity.minLength",
    limit: least("password_length", "characters", 15, { max: 200 }),
    expected: (length) => `a minimum length of at least ${countOf(length, "character")}`,
    show: (length) => countOf(length, "character"),
    ofDirectory: enforcedByDirectory,
  },
  authenticator_password_complexity_uppercase: complexity("Upper case letter", "minUpperCase"),
  authenticator_password_complexity_lowercase: complexity("Lower case letter", "minLowerCase"),
  authenticator_password_complexity_number: complexity("Number (0-9)", "minNumber"),
  authenticator_password_complexity_symbol: complexity("Symbol (e.g., !@#$%^&*)", "minSymbol"),
  authenticator_password_minimum_age_24h: {
    path: "settings.password.age.minAgeMinutes",
    limit: least("password_minimum_age_minutes", "minutes", 1440, { max: 525_600 }),
    expected: (minutes) =>
      `a minimum password age of at least ${countOf(minutes, "minute")}${minutes === 1440 ? " (24 hours)" : ""}`,
    show: (minutes) => countOf(minutes, "minute"),
  },
  authenticator_password_maximum_age_60d: {
    path: "settings.password.age.maxAgeDays",
    limit: most("password_maximum_age_days", "days", 60, { max: 3650 }),
    expected: (days) => `a maximum password age of ${upTo(days, "day")}`,
    show: (days) => showLimit(days, "day"),
  },
  authenticator_password_history_5: {
    path: "settings.password.age.historyCount",
    limit: least("password_history", "passwords", 5, { max: 30 }),
    expected: (passwords) => `a password history of at least ${passwords}`,
    show: (passwords) => `a history of ${passwords}`,
  },
  authenticator_password_common_password_check: {
    path: "settings.password.complexity.dictionary.common.exclude",
    isOn: true,
    expected: () => "the common password check to be on",
    show: (isOn) => (isOn ? "on" : "off"),
  },
  authenticator_password_lockout_threshold_3: {
    path: "settings.password.lockout.maxAttempts",
    limit: most("password_lockout_attempts", "attempts", 3, { max: 100 }),
    expected: (attempts) => `a lockout after ${upTo(attempts, "unsuccessful attempt")}`,
    show: (attempts) => showLimit(attempts, "attempt"),
    ofDirectory: lockedByDirectory,
  },
};

function complexity(label: string, field: string): PasswordSetting {
  return {
    path: `settings.password.complexity.${field}`,
    limit: 1,
    expected: () => `at least 1 character of the kind "${label}"`,
    show: (characters) => `${characters} required`,
    ofDirectory: enforcedByDirectory,
  };
}

type PasswordSetting = Setting & {
  /** The finding on a directory's policy, where Okta does not enforce the setting; without it Okta's setting decides there too. */
  readonly ofDirectory?: (subject: Subject, directory: string) => FindingDraft;
};

export const passwordChecks: readonly Check[] = Object.entries(settings).map(([name, setting]) => {
  const isLockout = setting.ofDirectory === lockedByDirectory;
  return defineCheck({
    name,
    setting,
    artifacts: ["password_policies"],
    conditionalArtifacts: ({ password_policies: policies }, { parameters, orgPolicy }): readonly DirectoryEvidence[] =>
      isLockout ? directoryEvidenceFor(judgePolicies(policies, setting, parameters), orgPolicy) : [],
    decidingFields: [
      decide("password_policies", ["status"]),
      decide("password_policies", [setting.path]),
      ...(setting.ofDirectory === undefined ? [] : [decide("password_policies", ["conditions.authProvider.provider"])]),
      ...(isLockout ? directoryFields : []),
    ],
    evaluate(artifacts, { parameters, orgPolicy }) {
      const drafts = judgePolicies(artifacts.password_policies, setting, parameters);
      return isLockout ? withDirectories(drafts, artifacts, orgPolicy) : drafts;
    },
  });
});

function judgePolicies(
  policies: Evidence<JsonList>,
  setting: PasswordSetting,
  values: CheckContext["parameters"],
): readonly FindingDraft[] {
  const expected = expectationOf(setting, values);
  return judgeList(wholePasswordPolicies(policies), {
    expected,
    judgeItem(policy) {
      const subject = new Subject(resourceOf("policy", policy), expected);
      return subject.ifActive(policy, () => {
        const directory = directoryOfPolicy(policy);
        if (setting.ofDirectory === undefined || directory.kind === "absent")
          return judgeSetting(subject, policy, { setting, values });
        return directory.kind === "value"
          ? setting.ofDirectory(subject, directory.value)
          : subject.unreadable(`the provider ${directory.found}`);
      });
    },
    judgeEmpty: (org) => [org.fail("no active password policy")],
  });
}

/** Under delegated authentication Okta does not enforce the length and the characters of a password. */
function enforcedByDirectory(subject: Subject, directory: string): FindingDraft {
  const actual = `a policy for users of ${directory}, which enforces length and characters itself`;
  return subject.noting(`verify it in ${directory}`).manual("partly_automated", actual);
}

function lockedByDirectory(subject: Subject, directory: string): FindingDraft {
  const actual = `a policy for users of ${directory}, which locks accounts itself`;
  return { ...subject.about, status: "MANUAL", reason: "not_applicable", actual, isAdvisory: true };
}

/** A directory locks its users itself, so the other policies decide, and a PASS of one names the directory's. */
function withDirectories(
  drafts: readonly FindingDraft[],
  artifacts: Pick<CollectedArtifacts, DirectoryEvidence>,
  orgPolicy: OrgPolicy | undefined,
): readonly FindingDraft[] {
  const directories = drafts.filter((draft) => draft.status === "MANUAL" && draft.reason === "not_applicable");
  const names = listTexts(directories.map(({ resource }) => `"${resource?.name ?? ""}"`));
  const uncovered = `Verify that the directory locks the accounts of the password policy ${names}`;
  const covered = drafts.map((draft) => withPartialCoverage(draft, directories.length === 0 ? null : uncovered));
  return unlessDirectory(covered, artifacts, orgPolicy);
}
