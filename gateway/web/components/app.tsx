import { useEffect, useState } from "preact/hooks";
import { toProblem } from "../model/connection.ts";
import { keptDraft } from "../model/decisions/decision_index.ts";
import { demoCredential, openSession, pastedCredential, type Credential, type Session } from "../model/session.ts";
import { announceSignOut, onSignOutElsewhere } from "../model/sign_out.ts";
import { signInOfferSchema, type SignInOffer } from "../../http/session_schema.ts";
import { openRest } from "../model/api.ts";
import { reachableProvider } from "../model/sign_in/provider.ts";
import { Button, Message } from "./basics.tsx";
import { Shell } from "./shell.tsx";
import { SignIn } from "./sign_in.tsx";

type View =
  | { readonly name: "starting" }
  | { readonly name: "unavailable"; readonly problem: string }
  | { readonly name: "signed_out"; readonly offer: SignInOffer; readonly notice: string | null }
  | { readonly name: "signed_in"; readonly offer: SignInOffer; readonly session: Session };

const signedOutHereOnly =
  "You are signed out here. You may still be signed in at the issuer: on a shared computer, sign out there too.";

const refusedLater = "You were signed out: your token or key is no longer accepted.";

/** The library for it is of no use to whoever is signed in by a key or by the demo. */
const loadIssuer = () => import("../model/sign_in/issuer_session.ts");

/** Finishes a sign-in that comes back from the issuer; signs in by itself where the gateway is the demo; asks everywhere else. */
export function App() {
  const [view, setView] = useState<View>({ name: "starting" });
  const [, setTick] = useState(0);
  const render = () => setTick((tick) => tick + 1);

  async function start(): Promise<void> {
    setView({ name: "starting" });
    try {
      const offer = await openRest().get("sign-in", signInOfferSchema);
      const isCallback = new URL(document.baseURI).pathname.endsWith("/callback");
      if (isCallback) return await finish(offer);
      const credential = offer.is_demo ? await demoCredential() : null;
      if (credential === null) return signedOut(offer, null);
      await signIn(offer, credential, null);
    } catch (error) {
      setView({ name: "unavailable", problem: toProblem(error) });
    }
  }

  function signedOut(offer: SignInOffer, notice: string | null): void {
    const isTyped = notice !== null && keptDraft.json !== "";
    setView({ name: "signed_out", offer, notice: isTyped ? `${notice} Sign in to go on with your decision.` : notice });
  }

  /** The issuer has sent the person back. */
  async function finish(offer: SignInOffer): Promise<void> {
    const { openIssuerSession } = await loadIssuer();
    const onExpired = () => signedOut(offer, "Your session has ended: it could not be renewed.");
    try {
      const answer = new URLSearchParams(location.search);
      const session = await openIssuerSession(reachableProvider(offer), answer, { onExpired, onChange: render });
      setView({ name: "signed_in", offer, session });
    } catch (error) {
      signedOut(offer, toProblem(error));
    }
  }

  /** `notice` tells the person when the gateway no longer accepts it. */
  async function signIn(offer: SignInOffer, credential: Credential, notice: string | null): Promise<void> {
    const session = await openSession(credential, null, () => signedOut(offer, notice));
    setView({ name: "signed_in", offer, session });
  }

  /** Gone for good: nothing happens after it but that the browser leaves. */
  async function leave(offer: SignInOffer, prompt?: "login"): Promise<void> {
    const provider = reachableProvider(offer);
    if (provider === null) return;
    const request = { returnTo: location.hash, tenantId: null, ...(prompt === undefined ? {} : { prompt }) };
    try {
      const { beginSignIn } = await loadIssuer();
      await beginSignIn(provider, request);
    } catch {
      // The browser has its cryptography for encrypted pages only, and for those of this machine.
      const notice = isSecureContext
        ? "The sign-in could not be loaded: reload the page."
        : "To sign in, open this page at its https:// address.";
      signedOut(offer, notice);
    }
  }

  useEffect(() => void start(), []);
  const signedIn = view.name === "signed_in" ? view : null;
  useEffect(() => {
    if (signedIn === null || signedIn.session.credential.kind === "demo") return undefined;
    const { offer, session } = signedIn;
    return onSignOutElsewhere(session.caller.id, () => {
      session.credential.close?.();
      signedOut(offer, "You signed out in another tab.");
    });
  }, [signedIn]);

  if (view.name === "signed_out") {
    const { offer, notice } = view;
    return (
      <SignIn
        offer={offer}
        notice={notice}
        signIn={async (pasted) => signIn(offer, pastedCredential(pasted), refusedLater)}
        onLeave={(prompt) => void leave(offer, prompt)}
        onStart={() => void start()}
      />
    );
  }
  if (view.name === "signed_in") {
    const { offer, session } = view;
    const { credential, caller } = session;
    return (
      <Shell
        key={caller.tenant?.id}
        session={session}
        onSignOut={() => {
          history.replaceState(null, "", "#/");
          keptDraft.json = "";
          const staysAtIssuer = credential.kind === "issuer" && !offer.provider?.endpoints?.end_session_endpoint;
          signedOut(offer, staysAtIssuer ? signedOutHereOnly : null);
          announceSignOut(caller.id);
          credential.signOut?.();
        }}
        onRefused={() => {
          credential.close?.();
          signedOut(offer, `You no longer have access to ${caller.tenant?.name ?? "this tenant"}.`);
        }}
        onTenant={(tenantId) => {
          session.switchTenant(tenantId).then(
            (next) => {
              history.replaceState(null, "", "#/");
              setView({ name: "signed_in", offer, session: next });
            },
            // The tenant that is open still answers for itself.
            render,
          );
        }}
      />
    );
  }
  return (
    <main class="center">
      {view.name === "starting" ? (
        <p role="status">Loading…</p>
      ) : (
        <Message level={1} title="The page cannot be shown" text={view.problem}>
          <Button look="primary" label="Try again" onClick={() => void start()} />
        </Message>
      )}
    </main>
  );
}
