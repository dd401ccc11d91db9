const channelName = "scanstream sign-out";
const thisTab = Math.random();

/** Tells the other tabs of the browser. */
export function announceSignOut(person: string): void {
  const channel = new BroadcastChannel(channelName);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel reaches its own origin only
  channel.postMessage([thisTab, person]);
  channel.close();
}

/** Calls back when this person signed out in another tab, until the function that it returns is called. */
export function onSignOutElsewhere(person: string, callback: () => void): () => void {
  const channel = new BroadcastChannel(channelName);
  channel.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
    const [tab, who]: unknown[] = Array.isArray(data) ? data : [];
    if (who === person && tab !== thisTab) callback();
  });
  return () => channel.close();
}
