import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../model/api.ts";
import {
  openDemoSession,
  openIssuerSession,
  openSession,
  type Session,
  type SessionOptions,
} from "../model/session.ts";
import { toProblem } from "../model/connection.ts";
import { beginSignIn, finishSignIn } from "../model/sign_in/authorization.ts";
import { takePending } from "../model/sign_in/pending.ts";
import { announceSignOut, onSignOutElsewhere } from "../model/sign_out.ts";
import { fetchOffer, type SignInOffer } from "../model/sign_in/provider.ts";
import { SignInError } from "../model/sign_in/tokens.ts";
import { Message } from "./basics.tsx";
import { Shell } from "./shell.tsx";
import { SignIn } from "./sign_in.tsx";

type View =
  | { readonly name: "starting" }
  | { readonly name: "unavailable"; readonly problem: string }
  | { readonly name: "signed_out"; readonly offer: SignInOffer; readonly notice: string | null }
  | { readonly name: "signed_in"; readonly offer: SignInOffer; readonly session: Session };

const signedOutHereOnly =
  "You are signed out here. You may still be signed in at the issuer: on a shared computer, sign out there too.";

const never = new AbortController().signal;

/** Finishes a sign-in that comes back from the issuer; signs in by itself where the gateway is the demo; asks everywhere else. */
export function App() {
  const [view, setView] = useState<View>({ name: "starting" });
  const [, setTick] = useState(0);

  function optionsFor(offer: SignInOffer, notice: string | null): SessionOptions {
    return {
      onExpired: () => setView({ name: "signed_out", offer, notice }),
      onChange: () => setTick((tick) => tick + 1),
    };
  }

  async function start(): Promise<void> {
    try {
      const offer = await fetchOffer(never);
      const answer = takeAnswer();
      if (answer === null) await startWithout(offer);
      else await finish(offer, answer);
    } catch (error) {
      setView({ name: "unavailable", problem: toProblem(error) });
    }
  }

  async function startWithout(offer: SignInOffer): Promise<void> {
    const session = offer.isDemo ? await openDemoSession(optionsFor(offer, null), never) : null;
    if (session === null) setView({ name: "signed_out", offer, notice: null });
    else setView({ name: "signed_in", offer, session });
  }

  /** What the issuer has sent the person back with. */
  async function finish(offer: SignInOffer, answer: URLSearchParams): Promise<void> {
    const pending = takePending();
    // Neither a reload nor the history may bring it again.
    history.replaceState(null, "", new URL(`.${pending?.returnTo ?? ""}`, document.baseURI));
    try {
      const { provider } = offer;
      if (provider === null) throw new SignInError("try_again", "The issuer cannot be reached");
      const tokens = await finishSignIn(provider, answer, pending);
      const options = optionsFor(offer, "Your session has ended: it could not be renewed.");
      const tenantId = pending?.tenantId ?? null;
      const session = await openIssuerSession({ provider, tokens, tenantId }, options, never);
      setView({ name: "signed_in", offer, session });
    } catch (error) {
      if (!(error instanceof SignInError || error instanceof ApiError)) throw error;
      setView({ name: "signed_out", offer, notice: error.message });
    }
  }

  async function signIn(offer: SignInOffer, pasted: string): Promise<void> {
    const notice = "You were signed out: your token or key is no longer accepted.";
    const session = await openSession(pasted, optionsFor(offer, notice), never);
    setView({ name: "signed_in", offer, session });
  }

  /** Gone for good: nothing happens after it but that the browser leaves. */
  function leave(offer: SignInOffer, prompt?: "login"): void {
    const { provider } = offer;
    if (provider === null) return;
    const request = { returnTo: location.hash, tenantId: null, ...(prompt === undefined ? {} : { prompt }) };
    beginSignIn(provider, request).catch(() => {
      // The browser has its cryptography for encrypted pages only, and for those of this machine.
      setView({ name: "signed_out", offer, notice: "To sign in, open this page at its https:// address." });
    });
  }

  useEffect(() => void start(), []);
  const signedIn = view.name === "signed_in" ? view : null;
  useEffect(() => {
    if (signedIn === null || signedIn.session.kind === "demo") return undefined;
    const closing = new AbortController();
    const { offer, session } = signedIn;
    onSignOutElsewhere(
      session.caller.id,
      () => {
        session.close();
        setView({ name: "signed_out", offer, notice: "You signed out in another tab." });
      },
      closing.signal,
    );
    return () => closing.abort();
  }, [signedIn]);

  if (view.name === "signed_out") {
    const { offer, notice } = view;
    return (
      <SignIn
        offer={offer}
        notice={notice}
        signIn={(pasted) => signIn(offer, pasted)}
        onLeave={(prompt) => leave(offer, prompt)}
        onStart={() => {
          setView({ name: "starting" });
          void start();
        }}
      />
    );
  }
  if (view.name === "signed_in") {
    const { offer, session } = view;
    const onSignOut = () => {
      history.replaceState(null, "", "#/");
      const staysAtIssuer = session.kind === "issuer" && offer.provider?.endSessionEndpoint === null;
      setView({ name: "signed_out", offer, notice: staysAtIssuer ? signedOutHereOnly : null });
      announceSignOut(session.caller.id);
      session.signOut();
    };
    const onRefused = () => {
      session.close();
      setView({
        name: "signed_out",
        offer,
        notice: `You no longer have access to ${session.caller.tenant?.name ?? "this tenant"}.`,
      });
    };
    const onTenant = (tenantId: string) => {
      void session.switchTenant(tenantId).then(
        (next) => {
          history.replaceState(null, "", "#/");
          setView({ name: "signed_in", offer, session: next });
        },
        // No matter what it is, the tenant that is open still answers for itself.
        () => setTick((tick) => tick + 1),
      );
    };
    const { tenant } = session.caller;
    return <Shell key={tenant?.id} session={session} onSignOut={onSignOut} onRefused={onRefused} onTenant={onTenant} />;
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

/** The query of the address that the issuer sends people back to; null: this is another one. */
function takeAnswer(): URLSearchParams | null {
  const isCallback = new URL(document.baseURI).pathname.endsWith("/callback");
  return isCallback ? new URLSearchParams(location.search) : null;
}
