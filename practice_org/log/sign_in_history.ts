import { oktaId } from "../objects/ids_and_links.ts";
import type { OrgContents } from "../objects/org_contents.ts";
import { logEvent, type LogActor, type LogEventSpec, type LogTransaction } from "./log_events.ts";
import type { SystemLog } from "./system_log.ts";

/** How one of the people signs in, every working day. */
interface Habit {
  readonly login: string;
  readonly address: string;
  readonly factor: "FIDO_WEBAUTHN" | "SIGNED_NONCE" | "OKTA_VERIFY_PUSH" | null;
  readonly isProxy?: true;
  /** Minutes after the session began at which an app is opened, and which one. */
  readonly opens: readonly (readonly [minutes: number, app: string])[];
  /** Only on every n-th day; default: on each. */
  readonly everyDays?: number;
}

const offices = ["198.51.100", "203.0.113"];
const usual = [
  [1, "Okta Dashboard"],
  [6, "Chat"],
  [14, "Wiki"],
] as const;

/** Most people sign in at the offices with factors that cannot be phished. The last ones are those whom a fix would hit. */
const habits: readonly Habit[] = [
  ...["amy", "ben", "cleo", "dan", "eve", "finn", "gus", "hana"].map((name, index): Habit => ({
    login: `${name}@practice.example`,
    address: `${offices[index % 2] ?? ""}.${10 + index}`,
    factor: index % 2 === 0 ? "FIDO_WEBAUTHN" : "SIGNED_NONCE",
    opens: usual,
  })),
  {
    login: "alex@practice.example",
    address: "198.51.100.9",
    factor: "FIDO_WEBAUTHN",
    opens: [[2, "Okta Admin Console"]],
  },
  { login: "remote.rita@practice.example", address: "192.0.2.77", factor: "FIDO_WEBAUTHN", opens: usual },
  {
    login: "proxy.paul@practice.example",
    address: "192.0.2.200",
    factor: "SIGNED_NONCE",
    isProxy: true,
    opens: usual,
    everyDays: 7,
  },
  {
    login: "push.pia@practice.example",
    address: "198.51.100.40",
    factor: "OKTA_VERIFY_PUSH",
    opens: [[3, "Okta Admin Console"]],
    everyDays: 2,
  },
  {
    login: "night.nils@practice.example",
    address: "203.0.113.60",
    factor: "FIDO_WEBAUTHN",
    opens: [...usual, [70, "Wiki"], [20 * 60, "Chat"]],
    everyDays: 3,
  },
];

const dayMs = 86_400_000;

/** Writes this number of days of sign-ins up to now, the same for the same org and time. */
export function writeSignInHistory(
  log: SystemLog,
  contents: OrgContents,
  { days, nowMs }: { readonly days: number; readonly nowMs: number },
): void {
  const apps = new Map<string, string>();
  for (let index = 0; index < Math.min(contents.apps.length, 500); index += 1) {
    const { id, label } = contents.apps.get(index);
    apps.set(label, id);
  }
  const policy = contents.policies.find(
    (one) => one.policy.type === "OKTA_SIGN_ON" && one.policy["system"] === true,
  )?.policy;
  for (let day = days; day >= 1; day -= 1) {
    for (const [index, habit] of habits.entries()) {
      if (day % (habit.everyDays ?? 1) !== 0) continue;
      const startMs = nowMs - day * dayMs + index * 60_000;
      const actor: LogActor = {
        id: oktaId("00u", habit.login),
        type: "User",
        alternateId: habit.login,
        displayName: habit.login.split("@")[0] ?? "",
        detailEntry: null,
      };
      const session = `idx${oktaId("ses", `${habit.login} ${day}`)}`;
      const write = (atMs: number, spec: LogEventSpec) => {
        if (atMs > nowMs) return;
        const id = oktaId("trx", `${session} ${atMs === startMs ? "start" : atMs}`);
        const { address, isProxy = false } = habit;
        const transaction: LogTransaction = {
          id,
          actor,
          nowMs: atMs,
          requestUri: "/okta/idx/identify",
          address,
          session,
          isProxy,
        };
        log.append(logEvent(transaction, spec), atMs);
      };
      for (const spec of beginning(habit, policy?.id ?? null)) write(startMs, spec);
      for (const [minutes, label] of habit.opens) {
        const id = apps.get(label);
        if (id !== undefined) write(startMs + minutes * 60_000, opening(id, label));
      }
    }
  }
}

function beginning({ factor, login }: Habit, policyId: string | null): readonly LogEventSpec[] {
  const policies =
    policyId === null
      ? []
      : [{ id: policyId, type: "PolicyEntity", alternateId: "unknown", displayName: "Default Policy" }];
  const user = { id: oktaId("00u", login), type: "User", alternateId: login, displayName: login };
  return [
    {
      eventType: "policy.evaluate_sign_on",
      displayMessage: "Evaluation of sign-on policy",
      targets: policies,
      outcome: { result: "ALLOW", reason: "Sign-on policy evaluation resulted in ALLOW" },
    },
    { eventType: "user.session.start", displayMessage: "User login to Okta", targets: [user] },
    ...(factor === null
      ? []
      : [
          {
            eventType: "user.authentication.auth_via_mfa",
            displayMessage: "Authentication of user via MFA",
            targets: [user],
            factor,
          },
        ]),
  ];
}

function opening(id: string, label: string): LogEventSpec {
  const app = { id, type: "AppInstance", alternateId: label, displayName: label };
  return { eventType: "user.authentication.sso", displayMessage: "User single sign on to app", targets: [app] };
}
