import type { TargetedSubmitEvent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../model/api.ts";
import { useTitle } from "./hooks.ts";

/** Asks for a credential. What is typed stays in the field until it is accepted. */
export function SignIn(props: { readonly notice: string | null; readonly signIn: (pasted: string) => Promise<void> }) {
  const field = useRef<HTMLInputElement>(null);
  const [isShown, setShown] = useState(false);
  const [isSubmitting, setSubmitting] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  useTitle("Sign in");
  useEffect(() => field.current?.focus(), []);

  async function submit(event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    setProblem(null);
    setSubmitting(true);
    try {
      await props.signIn(field.current?.value ?? "");
    } catch (error) {
      setProblem(error instanceof ApiError ? toWords(error) : "Something unexpected happened");
      setSubmitting(false);
      field.current?.focus();
    }
  }

  return (
    <main class="center">
      <form
        class="card sign-in stack"
        aria-labelledby="sign-in-title"
        noValidate
        onSubmit={(event) => void submit(event)}
      >
        <h1 id="sign-in-title">Sign in to watch scans</h1>
        {props.notice !== null && (
          <p class="notice row wrap" role="status">
            {props.notice}
          </p>
        )}
        <label class="strong" for="credential">
          Access token or API key
        </label>
        <div class="row">
          <input
            ref={field}
            id="credential"
            class="credential grow"
            {...(isShown ? ({ type: "text" } as const) : ({ type: "password" } as const))}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            required
            aria-describedby="credential-hint credential-problem"
            aria-invalid={problem === null ? undefined : true}
          />
          <button
            type="button"
            class="button button-quiet"
            aria-pressed={isShown}
            aria-controls="credential"
            aria-label="Show what is typed"
            onClick={() => setShown(!isShown)}
          >
            {isShown ? "Hide" : "Show"}
          </button>
        </div>
        <p class="note" id="credential-hint">
          It is kept in the memory of this tab only: never stored, never put into an address. A reload forgets it.
        </p>
        <p class="problem tinted tone-fail" id="credential-problem" role="alert">
          {problem}
        </p>
        <button type="submit" class="button button-primary" disabled={isSubmitting}>
          {isSubmitting ? "Signing in…" : "Sign in"}
        </button>
      </form>
    </main>
  );
}

function toWords(error: ApiError): string {
  if (error.status === 401) return `This was not accepted: ${error.message}`;
  if (error.status === 403) return `This was recognized, but gives no access: ${error.message}`;
  return error.message;
}
