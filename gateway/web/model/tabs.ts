/** What the tabs of one browser tell each other: that there is another one, and that somebody signed out. Never a credential. */

const tabLock = "scanstream tab";

/** Keeps this tab counted until the page is gone. Without locks, as on a page that is not a secure context, none is. */
export function countTab(): void {
  if (!("locks" in navigator)) return;
  const never = new Promise<void>(() => undefined);
  navigator.locks.request(tabLock, { mode: "shared" }, () => never).catch(() => undefined);
  tell(tabLock, "opened");
}

/** True where this tab may have a connection more: no other tab of this browser shows the page. */
export async function isOnlyTab(): Promise<boolean> {
  if (!("locks" in navigator)) return true;
  const { held = [] } = await navigator.locks.query();
  return held.filter(({ name }) => name === tabLock).length <= 1;
}

/** Calls back when another tab opens the page. */
export function onOtherTab(callback: () => void, signal: AbortSignal): void {
  listen(tabLock, callback, signal);
}

const signOutChannel = "scanstream sign-out";
const thisTab = Math.random();

export function announceSignOut(person: string): void {
  tell(signOutChannel, [thisTab, person]);
}

/** Calls back when this person signed out in another tab. */
export function onSignOutElsewhere(person: string, callback: () => void, signal: AbortSignal): void {
  const hear = (message: unknown) => {
    const [tab, who]: unknown[] = Array.isArray(message) ? message : [];
    if (who === person && tab !== thisTab) callback();
  };
  listen(signOutChannel, hear, signal);
}

function tell(name: string, message: unknown): void {
  const channel = new BroadcastChannel(name);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel reaches its own origin only
  channel.postMessage(message);
  channel.close();
}

function listen(name: string, callback: (message: unknown) => void, signal: AbortSignal): void {
  const channel = new BroadcastChannel(name);
  channel.addEventListener("message", ({ data }) => callback(data));
  signal.addEventListener("abort", () => channel.close(), { once: true });
}
