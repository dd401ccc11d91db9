import { dirname, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { wrapped } from "../../command_line/terminal.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { configFileName } from "../settings/config_file.ts";
import { readSettings, type Flags } from "../settings/read_settings.ts";
import { parseClientId, parseOrgUrl } from "../settings/values.ts";
import { systemClock } from "../okta/clock.ts";
import { RequestSender } from "../okta/request_sender.ts";
import { loadSetupKey } from "../setup/key_pair.ts";
import { consoleSteps, examineNeeds, isLeft, type NeedState } from "../setup/needs.ts";
import { clientIdInConfig, writeSetupConfig } from "../setup/write_config.ts";
import { scanCommand } from "./scan_command.ts";

const pollMs = 3000;
/** While scopes are missing each is asked for alone: fewer than a hundred token requests a minute. */
const scopesPollMs = 10_000;
const marks = { done: "✓", open: "○", wrong: "✗", optional: "○" } as const;

/**
 * `setup`: a key pair made here, what to click in Okta's console, and each click seen as soon as it is made. It changes nothing at
 * Okta. Without a terminal, or with `--yes`, it checks once: exit code 2 while something is left to do.
 */
export async function setupCommand(flags: Flags, io: CommandIo): Promise<number> {
  const settings = readSettings({ command: "setup", flags, env: io.env });
  const file = settings.config?.file ?? configFileName;
  const say = (text: string) => {
    const margin = /^ +\d\. /.exec(text)?.[0].length ?? 0;
    for (const line of wrapped(text, margin, Math.min(io.terminal.columns, 80))) io.terminal.write(`${line}\n`);
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
    const connection = { ...settings, orgUrl, key: key.signingKey, proxy: { httpsProxy, noProxy } };
    const sender = new RequestSender(connection, { signal: io.interrupted, clock: systemClock });
    close = () => sender.close();
    // Paths in the file are relative to its own folder.
    const keyEntry = { private_key_file: relative(dirname(file), key.file), private_key_id: key.signingKey.kid };
    const setup: Setup = {
      say,
      examine: (clientId) => examineNeeds(connection, clientId, sender),
      save: (id) => writeSetupConfig(file, { org_url: orgUrl, client_id: id, ...keyEntry }),
    };
    const clientId = ask === null ? await checkOnce(setup, known) : await guide(setup, known, { ask, io });
    if (clientId === null) return exitCodes.usage;
    const name = await setup.save(clientId);
    say(`Wrote ${file}${name === null ? "" : ` (organization "${name}")`}.`);
    if (ask === null || io.ask === null) return exitCodes.ok;
    const answer = await io.ask("Run the first scan now? [Y/n] ");
    if (answer === null || /^ *n/i.test(answer)) {
      say(`Scan at any time: scanstream scan${settings.again("scan")}`);
      return io.interrupted.aborted ? exitCodes.interrupted : exitCodes.ok;
    }
    return await scanCommand({ config: flags["config"], ...(name === null ? {} : { org: name }) }, io);
  } catch (error) {
    if (!io.interrupted.aborted && !(error instanceof NoAnswer)) throw error;
    say("Interrupted. Run scanstream setup again to continue.");
    return exitCodes.interrupted;
  } finally {
    await close();
  }
}

/** Thrown when the person interrupts a question, or closes the input. */
class NoAnswer extends Error {}

/** Asks until `parse` takes the answer. */
type Ask = <Value>(question: string, parse: (answer: string) => Value) => Promise<Value>;

function asking(ask: NonNullable<CommandIo["ask"]>, say: Setup["say"]): Ask {
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

interface Setup {
  readonly say: (text: string) => void;
  readonly examine: (clientId: string | null) => Promise<readonly NeedState[]>;
  /** Writes the configuration, which is also what a run that continues this one knows. */
  readonly save: (clientId: string) => Promise<string | null>;
}

/** Returns the client id where everything is there, else null after the steps that are left: for a script. */
async function checkOnce(setup: Setup, clientId: string | null): Promise<string | null> {
  const states = await setup.examine(clientId);
  const isReady = !states.some(isLeft);
  if (!isReady) for (const index of consoleSteps.keys()) showStep(setup, index);
  for (const state of states) show(setup, state);
  if (isReady) return clientId;
  // The next run goes on with this app.
  if (clientId !== null && states.some(({ need, state }) => need === "app" && state === "done"))
    await setup.save(clientId);
  setup.say("Not ready yet: finish each line without ✓, then run this command again.");
  return null;
}

/** Shows the steps one after the other, each until it is done. Returns null for an organization that cannot be used. */
async function guide(
  setup: Setup,
  known: string | null,
  { ask, io }: { readonly ask: Ask; readonly io: CommandIo },
): Promise<string | null> {
  const shown = new Map<string, string>();
  let clientId = known;
  let step = -1;
  for (;;) {
    const states = await setup.examine(clientId);
    const left = states.filter(isLeft);
    const next = consoleSteps.findIndex(({ needs }) => left.some(({ need }) => needs.test(need)));
    for (const one of states) {
      const { need, state, text } = one;
      // The next step names its clicks; of those, only a key or a role that is refused is news.
      if (state === "open" && !(consoleSteps[next]?.needs.test(need) && /^(?:key|role)$/.test(need))) continue;
      // How wrong a clock is differs by a second each time.
      const news = need === "clock" ? state : text;
      if (shown.get(need) !== news) show(setup, one);
      shown.set(need, news);
    }
    if (left.some(({ need }) => need === "organization")) return null;
    if (left.length === 0 && clientId !== null) return clientId;
    if (next > step) {
      step = next;
      showStep(setup, step);
    }
    if (consoleSteps[next]?.needs.test("app")) {
      clientId = await ask("Client ID: ", parseClientId);
      // An id that is as wrong as the one before is said to be.
      shown.delete("app");
      await setup.save(clientId);
      continue;
    }
    const delayMs = left.some(({ need }) => need.startsWith("scope:")) ? scopesPollMs : pollMs;
    await sleep(delayMs, undefined, { signal: io.interrupted });
  }
}

function show({ say }: Setup, { state, text }: NeedState): void {
  say(`${marks[state]} ${text}`);
}

function showStep({ say }: Setup, index: number): void {
  const step = consoleSteps[index];
  if (step === undefined) return;
  say("");
  say(`Step ${index + 1} of ${consoleSteps.length}: ${step.title}`);
  for (const [at, click] of step.clicks.entries()) say(`  ${at + 1}. ${click}`);
}
