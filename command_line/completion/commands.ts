import { Argument, type Command } from "commander";
import { toLine } from "../../shared/text.ts";
import type { RunCommand } from "../command_io.ts";
import { addExamples } from "../examples.ts";
import { exitCodes } from "../exit_code.ts";

/** `completion`, and what its scripts call. */
export function addCompletionCommands(program: Command, run: RunCommand): void {
  const completion = program
    .command("completion", { hidden: true })
    .description("print the completion script for a shell")
    .addArgument(new Argument("<shell>", "the shell").choices(["bash", "zsh", "fish"]))
    .action((shell: "bash" | "zsh" | "fish") =>
      run(async (io) => {
        const { shellScripts } = await import("./shell_scripts.ts");
        io.stdout(shellScripts[shell]);
        return exitCodes.ok;
      }),
    );
  addExamples(
    completion,
    "source <(scanstream completion bash)",
    "source <(scanstream completion zsh)",
    "scanstream completion fish > ~/.config/fish/completions/scanstream.fish",
  );

  const version = program.command("version", { hidden: true }).action(() =>
    run(async (io) => {
      io.stdout(`${io.toolVersion}\n`);
      return exitCodes.ok;
    }),
  );
  addExamples(version, "scanstream version");
  program
    .command("__complete", { hidden: true })
    .argument("[words...]", "after --: the words up to the cursor")
    .action((words: readonly string[]) =>
      run(async (io) => {
        const { complete } = await import("./complete.ts");
        const { kind, values } = await complete(program, words);
        const lines = values.map(({ value, description = "" }) => `${value}\t${toLine(description, maxLength)}`);
        io.stdout(`${[kind, ...lines].join("\n")}\n`);
        return exitCodes.ok;
      }),
    );
}

/** Next to a word, in a terminal of the usual width. */
const maxLength = 80;
