/** What the tabs of one browser tell each other: that somebody signed out. Never a credential. */

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
