import { spawn } from "node:child_process";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { stripVTControlCharacters } from "node:util";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtPackage, temporaryFolder } from "../support/command_line.ts";

/** What is typed at the prompt of a real shell, on a terminal, and what stands there after the Tab. */

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let work: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  const program = join(folder.path, "scanstream");
  // Asked for completion it is the real one; a line that is run shows the words that it was given.
  const real = `exec "${process.execPath}" "${join(builtPackage, "scanstream.js")}" "$@"`;
  const show = `printf '<%s>\\n' "$@"; echo '<end>'`;
  await writeFile(program, `#!/bin/sh\ncase $1 in completion|__complete) ${real} ;; *) ${show} ;; esac\n`);
  await chmod(program, 0o755);
  work = join(folder.path, "work");
  await mkdir(join(work, "reports"), { recursive: true });
  await writeFile(join(work, "key one.pem"), "");
  await writeFile(join(work, "waivers.json"), "");
});
afterAll(() => folder[Symbol.asyncDispose]());

const shells = {
  bash: { start: "bash --norc --noprofile -i", setup: "source <(scanstream completion bash)" },
  zsh: {
    start: "zsh -f -i",
    setup: "autoload -Uz compinit; compinit -u -D; unsetopt zle_bracketed_paste; source <(scanstream completion zsh)",
  },
  fish: { start: "fish --no-config -i", setup: "scanstream completion fish | source" },
} as const;

/** A shell on a terminal of its own, with the completion that `scanstream completion` writes. */
async function startShell(name: keyof typeof shells) {
  const { start, setup } = shells[name];
  const child = spawn("script", ["-qec", start, "/dev/null"], {
    cwd: work,
    env: { PATH: `${folder.path}:${process.env["PATH"]}`, HOME: folder.path, TERM: "dumb", PS1: "% ", COLUMNS: "300" },
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  const shown = () => stripVTControlCharacters(output).replaceAll("\r", "");
  const ended = new Promise((resolve) => child.once("close", resolve));
  child.stdin.write("stty columns 300\n");
  child.stdin.write(`${setup}\n`);
  // Written in two parts, so that its echo is not taken for its output.
  child.stdin.write(`echo rea""dy\n`);
  await expect.poll(shown, { timeout: 20_000 }).toMatch(/^ready/m);
  return {
    /** The words of the line that runs when a Tab and then Return are pressed. */
    async complete(typed: string): Promise<readonly string[]> {
      output = "";
      child.stdin.write(`scanstream ${typed}\t\n`);
      await expect.poll(shown, { timeout: 20_000 }).toMatch(/^<end>/m);
      return [...shown().matchAll(/^<(.*)>$/gm)].map(([, word = ""]) => word).slice(0, -1);
    },
    async stop() {
      child.stdin.end("exit\n");
      await ended;
    },
  };
}

describe.each(["bash", "zsh", "fish"] as const)("%s", (name) => {
  test("completes commands, options, values, lists, checks and files", async () => {
    const shell = await startShell(name);
    try {
      expect(await shell.complete("admin ten")).toEqual(["admin", "tenant"]);
      expect(await shell.complete("scan --atte")).toEqual(["scan", "--attestations"]);
      expect(await shell.complete("scan --format=table,mark")).toEqual(["scan", "--format=table,markdown"]);
      expect(await shell.complete("scan --waivers=wai")).toEqual(["scan", "--waivers=waivers.json"]);
      expect(await shell.complete("scan --private-key-file ke")).toEqual(["scan", "--private-key-file", "key one.pem"]);
      // zsh takes the slash away again at the end of a word.
      expect(await shell.complete("scan -o rep")).toEqual(["scan", "-o", expect.stringMatching(/^reports\/?$/)]);
      // Neither a file nor anything else where only the user knows.
      expect(await shell.complete("scan --client-id wai")).toEqual(["scan", "--client-id", "wai"]);
    } finally {
      await shell.stop();
    }
  });
});
