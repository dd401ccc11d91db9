import type { SignIn } from "./sign_ins.ts";

/** Whom a change would have blocked or asked for more. */
export interface Affected {
  readonly users: number;
  readonly apps: number;
  readonly sign_ins: number;
  /** Logins, at most 20, those with most sign-ins first. */
  readonly names: readonly string[];
}

const maxNames = 20;

export class Tally {
  readonly #users = new Map<string, { login: string; count: number }>();
  readonly #apps = new Set<string>();
  #signIns = 0;

  add({ userId, login, targets }: SignIn & { readonly userId: string }): void {
    const user = this.#users.get(userId) ?? { login: login ?? userId, count: 0 };
    user.count += 1;
    this.#users.set(userId, user);
    for (const app of targets) this.#apps.add(app);
    this.#signIns += 1;
  }

  result(): Affected {
    const sorted = [...this.#users.values()].toSorted(
      (one, other) => other.count - one.count || (one.login < other.login ? -1 : 1),
    );
    return {
      users: this.#users.size,
      apps: this.#apps.size,
      sign_ins: this.#signIns,
      names: sorted.slice(0, maxNames).map(({ login }) => login),
    };
  }
}
