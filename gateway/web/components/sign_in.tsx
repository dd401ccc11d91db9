import type { TargetedSubmitEvent } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { SignInOffer } from "../../http/session_schema.ts";
import { Button, Problem } from "./basics.tsx";
import { useAction, useTitle } from "./hooks.ts";

interface SignInProps {
  readonly offer: SignInOffer;
  readonly notice: string | null;
  readonly signIn: (pasted: string) => Promise<void>;
  /** To the issuer; `login`: to be asked there who one is. */
  readonly onLeave: (prompt?: "login") => void;
  /** The page begins anew. */
  readonly onStart: () => void;
}

/** The ways in: the issuer where there is one, and a token or key. */
export function SignIn(props: SignInProps) {
  const { offer, notice, onLeave, onStart } = props;
  const { provider } = offer;
  const isReachable = provider !== null && provider.endpoints !== null;
  useTitle("Sign in");
  return (
    <main class="center">
      <div class="card sign-in stack">
        <h1 id="sign-in-title">Sign in to watch scans</h1>
        <p class="fine">scanstream checks Okta organizations against DISA's STIG, and shows the findings here.</p>
        {notice !== null && (
          <p class="notice row wrap" role="status">
            {notice}
          </p>
        )}
        {isReachable && (
          <Button look="primary" label={`Sign in at ${new URL(provider.issuer).host}`} onClick={() => onLeave()} />
        )}
        {isReachable && notice !== null && <Button label="Sign in as somebody else" onClick={() => onLeave("login")} />}
        {provider !== null && !isReachable && (
          <Problem text={`The gateway cannot reach the issuer ${provider.issuer}, so nobody can sign in there now.`} />
        )}
        {(offer.is_demo || (provider !== null && !isReachable)) && (
          <Button label={offer.is_demo ? "Continue with the demo session" : "Try again"} onClick={onStart} />
        )}
        {isReachable ? (
          <details>
            <summary>Use an access token or an API key</summary>
            <CredentialForm signIn={props.signIn} />
          </details>
        ) : (
          <CredentialForm signIn={props.signIn} />
        )}
      </div>
    </main>
  );
}

/** Asks for a credential. What is typed stays in the field until it is accepted. */
function CredentialForm(props: Pick<SignInProps, "signIn">) {
  const field = useRef<HTMLInputElement>(null);
  const { isBusy, problem, run } = useAction();
  useEffect(() => field.current?.focus(), []);

  async function submit(event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    if (!(await run("sign in", () => props.signIn(field.current?.value ?? "")))) field.current?.focus();
  }

  return (
    <form class="stack" aria-labelledby="sign-in-title" noValidate onSubmit={(event) => void submit(event)}>
      <label class="strong" for="credential">
        Access token or API key
      </label>
      <input
        ref={field}
        id="credential"
        class="credential grow"
        type="password"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        required
        aria-describedby="credential-hint credential-problem"
        aria-invalid={problem === null ? undefined : true}
      />
      <p class="fine" id="credential-hint">
        This tab keeps it in memory only: it is never stored or put into an address, and a reload forgets it.
      </p>
      <Problem id="credential-problem" text={problem} />
      <Button type="submit" look="primary" label={isBusy ? "Signing in…" : "Sign in"} disabled={isBusy} />
    </form>
  );
}
