import { element, setText } from "./dom.ts";
import { ApiError } from "./api.ts";

export interface SignInView {
  readonly element: HTMLElement;
}

/** Asks for a credential. What is typed stays in the field until it is accepted, and is then forgotten by the document. */
export function createSignInView(options: {
  readonly notice: string | null;
  readonly signIn: (pasted: string) => Promise<void>;
}): SignInView {
  const field = element("input", {
    attributes: {
      id: "credential",
      type: "password",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
      required: true,
      "aria-describedby": "credential-hint credential-problem",
    },
  });
  const problem = element("p", { class: "problem", attributes: { id: "credential-problem", role: "alert" } });
  const submit = element("button", { class: "button button-primary", text: "Sign in", attributes: { type: "submit" } });
  const reveal = element("button", {
    class: "button button-quiet",
    text: "Show",
    attributes: {
      type: "button",
      "aria-pressed": "false",
      "aria-controls": "credential",
      "aria-label": "Show what is typed",
    },
    on: {
      click: () => {
        const isShown = field.type === "password";
        field.type = isShown ? "text" : "password";
        setText(reveal, isShown ? "Hide" : "Show");
        reveal.setAttribute("aria-pressed", String(isShown));
      },
    },
  });

  async function submitted(): Promise<void> {
    setText(problem, "");
    field.removeAttribute("aria-invalid");
    submit.disabled = true;
    setText(submit, "Signing in…");
    try {
      await options.signIn(field.value);
      field.value = "";
    } catch (error) {
      setText(problem, error instanceof ApiError ? toWords(error) : "Something unexpected happened");
      field.setAttribute("aria-invalid", "true");
      field.focus();
    } finally {
      submit.disabled = false;
      setText(submit, "Sign in");
    }
  }

  const form = element(
    "form",
    {
      class: "card sign-in",
      attributes: { "aria-labelledby": "sign-in-title", novalidate: true },
      on: {
        submit: (event) => {
          event.preventDefault();
          void submitted();
        },
      },
    },
    [
      element("h1", { text: "Sign in to watch scans", attributes: { id: "sign-in-title" } }),
      options.notice === null
        ? null
        : element("p", { class: "notice", text: options.notice, attributes: { role: "status" } }),
      element("label", { text: "Access token or API key", attributes: { for: "credential" } }),
      element("div", { class: "field" }, [field, reveal]),
      element("p", {
        class: "hint",
        text: "It is kept in the memory of this tab only: never stored, never put into an address. A reload forgets it.",
        attributes: { id: "credential-hint" },
      }),
      problem,
      submit,
    ],
  );
  return { element: element("main", { class: "center" }, [form]) };
}

function toWords(error: ApiError): string {
  if (error.status === 401) return `This was not accepted: ${error.message}`;
  if (error.status === 403) return `This was recognized, but gives no access: ${error.message}`;
  return error.message;
}
