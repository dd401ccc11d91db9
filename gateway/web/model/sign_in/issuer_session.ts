import { GatewayRefusal } from "../../../../shared/http_refusal.ts";
import { keptDraft } from "../decisions/decision_index.ts";
import { openSession, type Session } from "../session.ts";
import { finishSignIn, takePending } from "./authorization.ts";
import { SignInError, type Provider } from "./provider.ts";
import { keepTokens } from "./token_keeper.ts";
import { explainRefusal, explainToken } from "./tokens.ts";

/** Signing in at an issuer: loaded when somebody does. */
export { beginSignIn } from "./authorization.ts";

/**
 * Goes on with the answer that the issuer has sent the person back with. `onExpired`: the gateway no longer accepts the credential;
 * `onChange`: its `endsAtMs` is another one. Rejects with `SignInError` or as `RestClient` does.
 */
export async function openIssuerSession(
  provider: Provider | null,
  answer: URLSearchParams,
  { onExpired, onChange }: Readonly<Record<"onExpired" | "onChange", () => void>>,
): Promise<Session> {
  const pending = takePending();
  if (pending !== null) keptDraft.json = pending.draft;
  // Neither a reload nor the history may bring it again.
  history.replaceState(null, "", new URL(`.${pending?.returnTo ?? ""}`, document.baseURI));
  if (provider === null) throw new SignInError("try_again", "The issuer cannot be reached");
  const tokens = await finishSignIn(provider, answer, pending);
  const problem = explainToken(tokens, provider);
  if (problem !== null) throw new SignInError("sign_in", problem);
  const credential = keepTokens(provider, tokens, onChange);
  const open = (tenantId: string | null) => openSession(credential, tenantId, onExpired);
  try {
    // A tenant that was taken from the person in the meantime is not a reason to keep them out of the others.
    const remembered = pending?.tenantId ? await open(pending.tenantId).catch(() => null) : null;
    return remembered ?? (await open(null));
  } catch (error) {
    credential.close();
    if (!(error instanceof GatewayRefusal && error.httpStatus === 403)) throw error;
    throw new SignInError("sign_in", explainRefusal(tokens, provider), { cause: error });
  }
}
