import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import { shorten } from "../../../shared/text.ts";
import { readList, readText, readWord, showValue } from "./fields.ts";
import { sortTexts } from "./names.ts";

export type FactorKind = "knowledge" | "possession";

/**
 * `both`: two factors in one step. `card`: a smart card, which is both if its PIN is asked for. `provider`: a possession, or more
 * if the other identity provider asks for it. `unclear`: a known method; a person has to judge what it proves here.
 */
type ChainFactor = FactorKind | "both" | "card" | "provider" | "unclear";

/** One way to take a step. */
interface ChainMethod {
  readonly name: string;
  /** Null: a method that this version does not know. */
  readonly factor: ChainFactor | null;
  /** `depends`: resistant only where the policy demands it, and this one does not. */
  readonly isPhishingResistant: boolean | "depends" | "unknown";
}

/** A step is taken with any one of its methods, so the weakest of them counts. */
export type ChainStep = readonly ChainMethod[];

/** The steps that a user takes one after another. */
export type ChainPath = readonly ChainStep[];

/** The methods of each step, in words. */
export function describePath(path: ChainPath): string {
  return path.map((step) => sortTexts(step.map(({ name }) => name)).join(" or ")).join(" then ");
}

const maxNameLength = 80;

/** Every path through the chains that can be read, a chain that branches gives several; `unread`: the first that cannot, or null. */
export function readChains(verificationMethod: JsonObject) {
  const chains = readList(verificationMethod, "chains");
  const read = (chains.value ?? []).map((chain) => pathsFrom(chain, []));
  return {
    paths: read.flatMap((one) => (typeof one === "string" ? [] : one)),
    unread: chains.kind === "unreadable" ? chains.found : (read.find((one) => typeof one === "string") ?? null),
  };
}

/** The paths that start with `before`, or what is unreadable. */
function pathsFrom(link: unknown, before: ChainPath): readonly ChainPath[] | string {
  if (!isJsonObject(link)) return showValue(link);
  const methods = readList(link, "authenticationMethods");
  if (methods.value === null || methods.value.length === 0) return `a step without methods, ${showValue(link)}`;
  const path = [...before, methods.value.map(readMethod)];
  const next = readList(link, "next");
  if (next.kind === "unreadable") return `the next step ${next.found}`;
  if (next.kind === "absent" || next.value.length === 0) return [path];
  const following = next.value.map((one) => pathsFrom(one, path));
  return (
    following.find((one) => typeof one === "string") ?? following.flatMap((one) => (typeof one === "string" ? [] : one))
  );
}

function readMethod(value: unknown): ChainMethod {
  if (!isJsonObject(value)) return { name: showValue(value), factor: null, isPhishingResistant: "unknown" };
  const { value: key } = readText(value, "key");
  const { value: method } = readText(value, "method");
  const known = knownMethods.get(key ?? "") ?? (key === null ? knownMethods.get(method ?? "") : undefined);
  const name = method !== null && method !== key ? `${key ?? "method"} (${method})` : (key ?? "unnamed");
  const factor = factorOf(value, known);
  // Two factors in one step look like one without these words.
  const proof = factor === "both" ? " with user verification" : "";
  return {
    name: `${shorten(name, maxNameLength)}${proof}`,
    factor,
    isPhishingResistant: phishingResistance(value, known, method),
  };
}

/** A key, card, FastPass or push that also verifies its user proves possession, and a PIN or a trait of the person. */
function factorOf(value: JsonObject, known: KnownMethod | undefined): ChainMethod["factor"] {
  if (known?.verifiesUser !== true || readText(value, "method").value === "totp") return known?.factor ?? null;
  const demanded = readWord(value, "userVerification", ["REQUIRED", "OPTIONAL", "PREFERRED", "DISCOURAGED"]);
  if (demanded.kind === "unreadable") return null;
  return demanded.value === "REQUIRED" ? "both" : known.factor;
}

function phishingResistance(
  value: JsonObject,
  known: KnownMethod | undefined,
  method: string | null,
): ChainMethod["isPhishingResistant"] {
  if (known?.ignoresDemand === true) return known.isPhishingResistant;
  const demanded = readWord(value, "phishingResistant", ["REQUIRED", "OPTIONAL"]);
  if (demanded.kind === "unreadable") return "unknown";
  if (demanded.value === "REQUIRED") return true;
  if (known === undefined) return "unknown";
  // Okta FastPass falls back to ways that can be phished unless the policy rules them out.
  return method === "signed_nonce" ? "depends" : known.isPhishingResistant;
}

interface KnownMethod {
  readonly factor: ChainFactor;
  readonly isPhishingResistant: boolean | "depends";
  /** True if it is resistant, whatever the policy demands of it. */
  readonly ignoresDemand?: true;
  /** The policy may demand that it verifies its user, too. */
  readonly verifiesUser?: true;
}

const knowledge: KnownMethod = { factor: "knowledge", isPhishingResistant: false };
const possession: KnownMethod = { factor: "possession", isPhishingResistant: false };
const depends: KnownMethod = { factor: "possession", isPhishingResistant: "depends" };

/** Factors by authenticator key, and by method if an answer gives only that. */
const knownMethods: ReadonlyMap<string, KnownMethod> = new Map(
  (
    [
      ["okta_password password security_question", knowledge],
      ["okta_email email phone_number sms voice totp otp google_otp custom_otp", possession],
      ["onprem_mfa rsa_token symantec_vip yubikey_token", possession],
      ["okta_verify push custom_app", { ...possession, verifiesUser: true }],
      ["okta_verify_totp", { ...possession, ignoresDemand: true }],
      ["okta_verify_push", { ...possession, ignoresDemand: true, verifiesUser: true }],
      ["okta_verify_fastpass signed_nonce", { ...depends, verifiesUser: true }],
      ["duo", depends],
      ["external_idp idp", { ...depends, factor: "provider" }],
      ["webauthn", { factor: "possession", isPhishingResistant: true, verifiesUser: true }],
      ["smart_card_idp cert", { factor: "card", isPhishingResistant: true, verifiesUser: true }],
      // Only the organization knows how a temporary code reaches its user, and which proof it asked for.
      ["tac", { factor: "unclear", isPhishingResistant: "depends", ignoresDemand: true }],
    ] satisfies readonly (readonly [string, KnownMethod])[]
  ).flatMap(([keys, method]) => keys.split(" ").map((key) => [key, method] as const)),
);
