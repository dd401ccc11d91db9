import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../model/api.ts";
import { openDemoSession, openSession, type Session } from "../model/session.ts";
import { Message } from "./basics.tsx";
import { Dashboard } from "./dashboard.tsx";
import { SignIn } from "./sign_in.tsx";

type View =
  | { readonly name: "starting" }
  | { readonly name: "unavailable"; readonly problem: string }
  | { readonly name: "signed_out"; readonly notice: string | null }
  | { readonly name: "signed_in"; readonly session: Session };

/** Signs in by itself where the gateway is the demo, and asks for a credential everywhere else. */
export function App() {
  const [view, setView] = useState<View>({ name: "starting" });
  const signOut = (notice: string | null) => setView({ name: "signed_out", notice });

  async function start(): Promise<void> {
    try {
      const session = await openDemoSession({ onExpired: () => signOut(null) }, new AbortController().signal);
      if (session === null) signOut(null);
      else setView({ name: "signed_in", session });
    } catch (error) {
      const problem = error instanceof ApiError ? error.message : "Its answer could not be read.";
      setView({ name: "unavailable", problem });
    }
  }

  async function signIn(pasted: string): Promise<void> {
    const onExpired = () => signOut("You were signed out: your token or key is no longer accepted.");
    setView({ name: "signed_in", session: await openSession(pasted, { onExpired }, new AbortController().signal) });
  }

  useEffect(() => void start(), []);

  if (view.name === "signed_out") return <SignIn notice={view.notice} signIn={signIn} />;
  if (view.name === "signed_in") {
    const signOutByChoice = () => {
      history.replaceState(null, "", "#/");
      signOut(null);
    };
    return <Dashboard session={view.session} onSignOut={signOutByChoice} />;
  }
  return (
    <main class="center">
      {view.name === "starting" ? (
        <p role="status">Loading…</p>
      ) : (
        <Message
          level={1}
          title="The gateway does not answer"
          text={view.problem}
          action={{ label: "Try again", run: () => void start() }}
        />
      )}
    </main>
  );
}
