import { groupId } from "./people_objects.ts";
import { defaultPolicy, policyWithRules, type PolicySpec, type RuleSpec } from "./policy_objects.ts";
import type { PolicyWithRules, Site } from "./org_contents.ts";

export interface PasswordPolicySpec extends Omit<PolicySpec, "type" | "conditions" | "fields" | "rules"> {
  readonly provider?: "OKTA" | "ACTIVE_DIRECTORY";
  readonly groupIds: readonly string[];
  readonly settings?: Partial<PasswordSettings>;
}

/** Zero means "no limit" for ages, history and attempts. */
export interface PasswordSettings {
  readonly minLength: number;
  readonly minLowerCase: number;
  readonly minUpperCase: number;
  readonly minNumber: number;
  readonly minSymbol: number;
  readonly commonPasswordsExcluded: boolean;
  readonly maxAgeDays: number;
  readonly minAgeMinutes: number;
  readonly historyCount: number;
  readonly maxAttempts: number;
}

/** Initial settings of every org. */
const initialSettings: PasswordSettings = {
  minLength: 8,
  minLowerCase: 1,
  minUpperCase: 1,
  minNumber: 1,
  minSymbol: 0,
  commonPasswordsExcluded: false,
  maxAgeDays: 0,
  minAgeMinutes: 0,
  historyCount: 4,
  maxAttempts: 10,
};

export function passwordPolicy(site: Site, spec: PasswordPolicySpec): PolicyWithRules {
  const set = { ...initialSettings, ...spec.settings };
  return policyWithRules(site, {
    ...spec,
    type: "PASSWORD",
    conditions: {
      people: { groups: { include: spec.groupIds } },
      authProvider: { provider: spec.provider ?? "OKTA" },
    },
    fields: {
      settings: {
        password: {
          complexity: {
            minLength: set.minLength,
            minLowerCase: set.minLowerCase,
            minUpperCase: set.minUpperCase,
            minNumber: set.minNumber,
            minSymbol: set.minSymbol,
            excludeUsername: true,
            dictionary: { common: { exclude: set.commonPasswordsExcluded } },
            excludeAttributes: [],
          },
          age: {
            maxAgeDays: set.maxAgeDays,
            expireWarnDays: 0,
            minAgeMinutes: set.minAgeMinutes,
            historyCount: set.historyCount,
          },
          lockout: {
            maxAttempts: set.maxAttempts,
            autoUnlockMinutes: 0,
            userLockoutNotificationChannels: [],
            showLockoutFailures: false,
          },
          breachedProtection: { expireAfterDays: null, logoutEnabled: false, delegatedWorkflowId: null },
        },
        recovery: {
          factors: {
            recovery_question: { status: "ACTIVE", properties: { complexity: { minLength: 4 } } },
            okta_email: { status: "ACTIVE", properties: { recoveryToken: { tokenLifetimeMinutes: 60 } } },
            okta_sms: { status: "INACTIVE" },
            okta_call: { status: "INACTIVE" },
          },
        },
        delegation: { options: { skipUnlock: false } },
      },
    },
    rules: [defaultPasswordRule],
  });
}

/** For users to whom no other policy applies; every org has one. */
export function defaultPasswordPolicy(
  site: Site,
  priority: number,
  settings: Partial<PasswordSettings> = {},
): PolicyWithRules {
  return passwordPolicy(site, { ...defaultPolicy, priority, groupIds: [groupId("Everyone")], settings });
}

const defaultPasswordRule: RuleSpec = {
  name: "Default Rule",
  priority: 1,
  system: true,
  conditions: { people: { users: { exclude: [] } }, network: { connection: "ANYWHERE" } },
  actions: {
    passwordChange: { access: "ALLOW" },
    selfServicePasswordReset: {
      access: "ALLOW",
      requirement: { primary: { methods: ["email"] }, stepUp: { required: false } },
    },
    selfServiceUnlock: { access: "DENY" },
  },
};
