import { ApiError } from "./api.ts";
import { createDashboard, type Dashboard } from "./dashboard.ts";
import { createMessage } from "./message_view.ts";
import { element } from "./dom.ts";
import { openDemoSession, openSession, type Session } from "./session.ts";
import { createSignInView } from "./sign_in_view.ts";

const root = document.getElementById("page") ?? document.body;
let dashboard: Dashboard | null = null;

void start();

/** Signs in by itself where the gateway is the demo, and asks for a credential everywhere else. */
async function start(): Promise<void> {
  const signal = new AbortController().signal;
  try {
    const session = await openDemoSession({ onExpired: () => askToSignIn(null) }, signal);
    if (session === null) askToSignIn(null);
    else show(session);
  } catch (error) {
    root.replaceChildren(
      element("main", { class: "center" }, [
        createMessage({
          level: 1,
          title: "The gateway does not answer",
          text: error instanceof ApiError ? error.message : "Its answer could not be read.",
          action: { label: "Try again", run: () => void start() },
        }),
      ]),
    );
  }
}

function askToSignIn(notice: string | null): void {
  dashboard?.close();
  dashboard = null;
  document.title = "Sign in · scanstream";
  document.body.dataset["route"] = "sign-in";
  const onExpired = () => askToSignIn("You were signed out: your token or key is no longer accepted.");
  const view = createSignInView({
    notice,
    signIn: async (pasted) => show(await openSession(pasted, { onExpired }, new AbortController().signal)),
  });
  root.replaceChildren(view.element);
  view.element.querySelector("input")?.focus();
}

function show(session: Session): void {
  dashboard?.close();
  dashboard = createDashboard(session, {
    signOut: () => {
      history.replaceState(null, "", "#/");
      askToSignIn(null);
    },
  });
  root.replaceChildren(dashboard.element);
}
