import { dirname, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { printable, wrapText } from "../../command_line/terminal.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { configFileName } from "../settings/config_file.ts";
import { readSettings, type Flags } from "../settings/read_settings.ts";
import { parseClientId, parseOrgUrl } from "../settings/values.ts";
import { systemClock } from "../okta/clock.ts";
import { createRequestSender } from "../okta/connection.ts";
import { parsePrivateKey } from "../okta/private_key.ts";
import { consoleSteps } from "../setup/look.ts";
import { loadSetupKey } from "../setup/key_pair.ts";
import { lookAtOrg, type NeedState } from "../setup/look.ts";
import { clientIdInConfig, writeSetupConfig } from "../setup/write_config.ts";
import { scanCommand } from "./scan_command.ts";

const pollMs = 3000;
/** While scopes are missing each is asked for alone: fewer than a hundred token requests a minute. */
const scopesPollMs = 10_000;
const marks = { done: "✓", open: "○", wrong: "✗" } as const;
/** Which needs each console step is about. */
const needsOfStep: readonly RegExp[] = [/^app$/, /^key$/, /^scope:/, /^role$/];

/**
 * `setup`: a key pair made here, what to click in Okta's console, and each click seen as soon as it is made. It changes nothing at
 * Okta. Without a terminal, or with `--yes`, it looks once: exit code 2 while something is left to do.
 */
export async function setupCommand(flags: Flags, io: CommandIo): Promise<number> {
  const settings = readSettings({ command: "setup", flags, env: io.env });
  const file = settings.config?.file ?? configFileName;
  const say = (text: string) => {
    for (const line of wrapText(printable(text), Math.min(io.terminal.columns || 80, 80)))
      io.terminal.write(`${line}\n`);
  };
  const ask = settings.yes || io.ask === null ? null : asking(io.ask, say);
  let close = async () => {};
  try {
    const orgUrl = settings.orgUrl ?? (await ask?.("Address of your Okta org, such as acme.okta.com: ", parseOrgUrl));
    if (orgUrl === undefined)
      throw new UsageError(["--org-url is missing: expected the org's address, such as acme.okta.com"]);
    const known = settings.clientId ?? (await clientIdInConfig(file, orgUrl));
    const key = await loadSetupKey(orgUrl);
    say(
      `${key.isNew ? "Made" : "Using"} the key ${key.file}. The private half stays on this machine. The public half, for step 2:`,
    );
    io.stdout(`${key.publicJwk}\n`);
    const { httpsProxy, noProxy } = settings;
    const pem = String(key.privateKey.export({ type: "pkcs8", format: "pem" }));
    const signingKey = parsePrivateKey(pem, { keyId: key.kid });
    const connection = { ...settings, orgUrl, key: signingKey, proxy: { httpsProxy, noProxy } };
    const sending = { signal: io.interrupted, clock: systemClock, trace: undefined };
    const sender = createRequestSender({ ...connection, clientId: "" }, sending);
    close = () => sender.close();
    // Paths in the file are relative to its own folder.
    const keyEntry = { private_key_file: relative(dirname(file), key.file), private_key_id: key.kid };
    const walk: Walk = {
      say,
      look: (clientId) => lookAtOrg(connection, clientId, sender),
      save: (id) => writeSetupConfig(file, { org_url: orgUrl, client_id: id, ...keyEntry }),
    };
    const clientId = ask === null ? await lookOnce(walk, known) : await walkThrough(walk, known, { ask, io });
    if (clientId === null) return exitCodes.usage;
    const name = await walk.save(clientId);
    say(`Wrote ${file}${name === null ? "" : ` (organization "${name}")`}.`);
    if (ask === null) return exitCodes.ok;
    if (/^n/i.test(await ask("Run the first scan now? [Y/n] ", String))) {
      say("Scan at any time: scanstream scan");
      return exitCodes.ok;
    }
    await scanCommand({ config: file, ...(name === null ? {} : { org: name }) }, io);
    return io.interrupted.aborted ? exitCodes.interrupted : exitCodes.ok;
  } catch (error) {
    if (!io.interrupted.aborted && !(error instanceof NoAnswer)) throw error;
    say("Interrupted. Run scanstream setup again to continue.");
    return exitCodes.interrupted;
  } finally {
    await close();
  }
}

/** The person interrupted a question, or closed the input. */
class NoAnswer extends Error {}

/** Asks until `parse` takes the answer. */
type Ask = <Value>(question: string, parse: (answer: string) => Value) => Promise<Value>;

function asking(ask: NonNullable<CommandIo["ask"]>, say: Walk["say"]): Ask {
  return async (question, parse) => {
    for (;;) {
      const answer = await ask(question);
      if (answer === null) throw new NoAnswer();
      try {
        return parse(answer.trim());
      } catch (error) {
        say(`${/^[^:,]*/.exec(question)?.[0]} ${error instanceof Error ? error.message : "cannot be used"}`);
      }
    }
  };
}

interface Walk {
  readonly say: (text: string) => void;
  readonly look: (clientId: string | null) => Promise<readonly NeedState[]>;
  /** Writes the configuration, which is also what a run that continues this one knows. */
  readonly save: (clientId: string) => Promise<string | null>;
}

/** For a script: the client id where everything is there, else null after the steps that are left. */
async function lookOnce(walk: Walk, clientId: string | null): Promise<string | null> {
  const states = await walk.look(clientId);
  const left = states.filter(({ state, isRequired }) => isRequired && state !== "done");
  if (left.length > 0) for (const index of consoleSteps.keys()) showStep(walk, index);
  for (const state of states) show(walk, state);
  if (left.length === 0) return clientId;
  // The next run goes on with this app.
  if (clientId !== null && states.some(({ need, state }) => need === "app" && state === "done"))
    await walk.save(clientId);
  walk.say("Not ready yet: finish each line without ✓, then run this command again.");
  return null;
}

/** The steps one after the other, each until it is seen to be done. Null: the organization cannot be used. */
async function walkThrough(
  walk: Walk,
  known: string | null,
  { ask, io }: { readonly ask: Ask; readonly io: CommandIo },
): Promise<string | null> {
  const shown = new Map<string, string>();
  let clientId = known;
  let step = -1;
  for (;;) {
    const states = await walk.look(clientId);
    const left = consoleSteps.findIndex((_, index) => !isDone(states, index));
    const blocked = states.find(
      ({ need, state }) => state === "wrong" && (need === "organization" || need === "clock"),
    );
    for (const state of states) {
      const isLater = state.state !== "done" && stepOf(state.need) > Math.max(left, 0);
      if (isLater || shown.get(state.need) === state.text) continue;
      shown.set(state.need, state.text);
      // The steps name what waits for the person; only what is wrong, or done, is news.
      if (state.state !== "open" || state.need === "key" || state.need === "role") show(walk, state);
    }
    if (blocked?.need === "organization") return null;
    if (left < 0 && blocked === undefined && clientId !== null) {
      for (const state of states) if (!state.isRequired && state.state === "open") show(walk, state);
      return clientId;
    }
    if (left > step) {
      step = left;
      showStep(walk, step);
    }
    if (left === 0) {
      clientId = await ask("Client ID: ", parseClientId);
      await walk.save(clientId);
      continue;
    }
    const isScopeOpen = states.some(({ need, state }) => need.startsWith("scope:") && state === "open");
    await sleep(isScopeOpen ? scopesPollMs : pollMs, undefined, { signal: io.interrupted });
  }
}

function stepOf(need: string): number {
  return needsOfStep.findIndex((pattern) => pattern.test(need));
}

/** True when everything that a step is about is there. */
function isDone(states: readonly NeedState[], step: number): boolean {
  const own = states.filter(({ need }) => stepOf(need) === step);
  return own.length > 0 && own.every(({ state }) => state === "done");
}

function show({ say }: Walk, { state, text }: NeedState): void {
  say(`${marks[state]} ${text}`);
}

function showStep({ say }: Walk, index: number): void {
  const step = consoleSteps[index];
  if (step === undefined) return;
  say("");
  say(`Step ${index + 1} of ${consoleSteps.length}: ${step.title}`);
  for (const [at, click] of step.clicks.entries()) say(`  ${at + 1}. ${click}`);
}
