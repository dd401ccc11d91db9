import { countOf } from "../../shared/outcome_text.ts";
import { decide, defineCheck, type Check, type FindingDraft } from "./check.ts";
import type { OrgPolicy } from "../org_policy/document.ts";
import type { CollectedArtifacts, Evidence, JsonList } from "../evidence/artifacts.ts";
import { judgeList, Subject, withPartialCoverage } from "./evaluating/finding_drafts.ts";
import { expectationOf, judgeSetting, settingCheck, type ExplainedSetting } from "./evaluating/setting.ts";
import { least, most, type ParameterValues } from "./parameter.ts";
import {
  directoryEvidenceFor,
  directoryFields,
  directoryOfPolicy,
  unlessDirectory,
  wholePasswordPolicies,
  type DirectoryEvidence,
} from "./evaluating/directory.ts";
import { listTexts, resourceOf } from "./parsing/names.ts";

const leftToDirectory =
  "Left to a person: a directory enforces the length and the characters of its users' passwords itself. A policy of Active Directory or " +
  "LDAP is MANUAL (`partly_automated`): verify the setting in the directory, and attest it.";

/** The settings of each active password policy. `path` is below `settings.password`. */
const settings: readonly PasswordSetting[] = [
  {
    name: "authenticator_password_minimum_length_15",
    limit: least("password_length", "characters", 15, { max: 200 }),
    expected: (length) => `a minimum length of at least ${length} characters`,
    path: "complexity.minLength",
    show: (length) => countOf(length, "character"),
    ofDirectory: enforcedByDirectory,
    examines: "The shortest password that each active password policy accepts.",
    why: "Length makes it expensive to guess the password of a stolen hash. DISA requires 15 characters.",
    disa: 'If any policy is not set to at least "15", this is a finding.',
    passes: "`minLength` is at least 15",
    console: 'Set "Minimum length" to 15 characters',
  },
  complexity("uppercase", "Upper case letter", "minUpperCase"),
  complexity("lowercase", "Lower case letter", "minLowerCase"),
  complexity("number", "Number (0-9)", "minNumber"),
  complexity("symbol", "Symbol (e.g., !@#$%^&*)", "minSymbol"),
  {
    name: "authenticator_password_minimum_age_24h",
    limit: least("password_minimum_age_minutes", "minutes", 1440, { max: 525_600 }),
    expected: (minutes) =>
      `a minimum password age of at least ${minutes} minutes${minutes === 1440 ? " (24 hours)" : ""}`,
    path: "age.minAgeMinutes",
    show: (minutes) => countOf(minutes, "minute"),
    examines: "How long users must keep a new password before they can change it again.",
    why: "Without a minimum age, users can change the password several times in a row and return to the old one.",
    disa: 'For each policy, if "Minimum password age is XX hours" is not set to at least "24", this is a finding.',
    passes: "`minAgeMinutes` is at least 1440",
    more: ["Not covered: resets by an administrator."],
    console: 'Set "Minimum password age is XX hours" to at least 24',
  },
  {
    name: "authenticator_password_maximum_age_60d",
    limit: most("password_maximum_age_days", "days", 60, { max: 3650 }),
    expected: (days) => `a maximum password age of 1 to ${days} days`,
    path: "age.maxAgeDays",
    show: (days) => (days === 0 ? "no limit (0)" : countOf(days, "day")),
    examines: "After how many days a password expires.",
    why: "A leaked password works until it is changed.",
    disa: 'For each policy, if "Password expires after XX days" is not set to "60", this is a finding.',
    passes: "`maxAgeDays` is 1 to 60; 0 means that it never expires",
    console: 'Set "Password expires after XX days" to 60',
  },
  {
    name: "authenticator_password_history_5",
    limit: least("password_history", "passwords", 5, { max: 30 }),
    expected: (passwords) => `a password history of at least ${passwords}`,
    path: "age.historyCount",
    show: (passwords) => `a history of ${passwords}`,
    examines: "How many earlier passwords a user cannot use again.",
    why: "A password that was exposed once must not be used again.",
    disa: 'If any policy is not set to at least "5", this is a finding.',
    passes: "`historyCount` is at least 5",
    console: 'Set "Enforce password history for last XX passwords" to 5',
  },
  {
    name: "authenticator_password_common_password_check",
    isOn: true,
    expected: () => "the common password check to be on",
    path: "complexity.dictionary.common.exclude",
    show: (isOn) => (isOn ? "on" : "off"),
    examines: "Whether Okta refuses commonly used passwords.",
    why: "Attackers try common passwords first, and many of them satisfy every complexity rule.",
    disa: 'If "Common Password Check" is not selected, this is a finding.',
    passes: "`dictionary.common.exclude` is exactly true",
    more: [
      "Not covered: Okta's list itself. The title also names expected and compromised passwords; DISA's steps ask for this box only.",
    ],
    console: 'Check "Common Password Check"',
  },
  {
    name: "authenticator_password_lockout_threshold_3",
    limit: most("password_lockout_attempts", "attempts", 3, { max: 100 }),
    expected: (attempts) => `a lockout after 1 to ${attempts} unsuccessful attempts`,
    path: "lockout.maxAttempts",
    show: (attempts) => (attempts === 0 ? "no limit (0)" : countOf(attempts, "attempt")),
    ofDirectory: lockedByDirectory,
    examines: "After how many wrong passwords Okta locks an account.",
    why: "Without a lockout, attackers can guess passwords online.",
    disa:
      "If Okta Services are not configured to automatically lock user accounts after three consecutive invalid login attempts, this is a " +
      "finding.",
    passes: "`lockout.maxAttempts` is 1 to 3; 0 means that Okta never locks an account",
    more: [
      'DISA: "If Okta Services rely on external directory services for user sourcing, this check is not applicable". A directory\'s policy ' +
        "is `not_applicable`, and the others decide. If one of them does not comply and a directory is in use, the result is MANUAL " +
        "(`needs_review`). If the document says `user_sourcing` directory, it is `not_applicable` while a directory is in use, also where " +
        "a policy does not comply. A Read-Only Administrator does not see directories that are apps.",
      "Not covered: the 15 minutes in the title, which are not an Okta setting and not in DISA's steps.",
      "Left to a person: that the directory locks its own accounts. If an account exists that Okta masters, this is a finding; else " +
        "attest the rule as Not Applicable.",
    ],
    console: 'Check "Lock out after XX unsuccessful attempts" and set it to 3',
  },
];

type PasswordSetting = ExplainedSetting & {
  /** The finding on a directory's policy, where Okta does not enforce the setting; without it Okta's setting decides there too. */
  readonly ofDirectory?: (subject: Subject, directory: string) => FindingDraft;
};

export const passwordChecks: readonly Check[] = settings.map(passwordCheck);

function passwordCheck({ path, ...given }: PasswordSetting): Check {
  const setting: PasswordSetting = { ...given, path: `settings.password.${path}` };
  const { passes, more = [], ofDirectory } = setting;
  const isLockout = ofDirectory === lockedByDirectory;
  return defineCheck({
    ...settingCheck(setting, {
      rests_on: [
        `PASS: in each active password policy ${passes}. An answer without the Default Policy, which every org has, is a part of the ` +
          "list: it may FAIL, and is otherwise MANUAL (`missing_role`).",
        ...(ofDirectory === enforcedByDirectory ? [leftToDirectory] : []),
        ...more,
      ],
      fix: [
        "Open Security > Authenticators in the Admin Console",
        'Choose Actions > Edit next to "Password" and edit each active policy',
        `${setting.console} and save`,
      ],
      deciding_fields: [
        decide("password_policies", ["status"]),
        decide("password_policies", [setting.path]),
        ...(ofDirectory === undefined ? [] : [decide("password_policies", ["conditions.authProvider.provider"])]),
        ...(isLockout ? directoryFields : []),
      ],
    }),
    artifacts: ["password_policies"],
    conditionalArtifacts: ({ password_policies: policies }, { parameters, orgPolicy }): readonly DirectoryEvidence[] =>
      isLockout ? directoryEvidenceFor(judgePolicies(policies, setting, parameters), orgPolicy) : [],
    evaluate(artifacts, { parameters, orgPolicy }) {
      const drafts = judgePolicies(artifacts.password_policies, setting, parameters);
      return isLockout ? withDirectories(drafts, artifacts, orgPolicy) : drafts;
    },
  });
}

function judgePolicies(
  policies: Evidence<JsonList>,
  setting: PasswordSetting,
  values: ParameterValues | undefined,
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
  return drafts.map((draft) =>
    unlessDirectory(withPartialCoverage(draft, directories.length === 0 ? null : uncovered), artifacts, orgPolicy),
  );
}

function complexity(suffix: string, label: string, field: string): PasswordSetting {
  return {
    name: `authenticator_password_complexity_${suffix}`,
    ofDirectory: enforcedByDirectory,
    limit: 1,
    expected: () => `at least 1 character of the kind "${label}"`,
    path: `complexity.${field}`,
    show: (characters) => `${characters} required`,
    examines: `Whether each active password policy requires a character of the kind "${label}".`,
    why: "Each required kind of character increases the number of passwords that an attacker has to try.",
    disa: `For each policy, if "${label}" is not checked, this is a finding.`,
    passes: `\`${field}\` is at least 1`,
    console: `Check "${label}"`,
  };
}
