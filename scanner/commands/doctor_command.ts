import { styleText } from "node:util";
import { toPrintableJson } from "../../shared/text.ts";
import type { CommandIo } from "../../command_line/command_io.ts";
import { settingsOfEach } from "../settings/organizations.ts";
import { readSettings, type Flags, type Given } from "../settings/read_settings.ts";
import { diagnose, type DoctorResult } from "./doctor.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { createTrace } from "./trace_lines.ts";
import type { RuleLimit } from "./rule_limits.ts";
import { printable, wrapped } from "../../command_line/terminal.ts";

const marks = { ok: "green", warn: "yellow", fail: "red", skipped: "gray" } as const satisfies Record<
  DoctorResult["state"],
  string
>;

/**
 * `doctor`: each step as soon as it is known, of every organization of the configuration file or of the ones that `--org` names. 2
 * when a configuration is wrong, 3 when a provider refuses.
 */
export async function doctorCommand(flags: Flags, io: CommandIo): Promise<number> {
  const organizations = await settingsOfEach("doctor", flags, io);
  // Wrong settings of an organization are a step of its own.
  const shown = { format: flags["format"], verbose: flags["verbose"] };
  const { textFormat: format, verbose } = readSettings({ command: "doctor", flags: shown, env: {} });
  const codes: number[] = [];
  const all: { readonly organization: string | null; readonly steps: readonly DoctorResult[] }[] = [];
  for (const given of organizations) {
    const { organization: name = null } = given;
    if (name !== null && format === "text") io.stdout(`${codes.length === 0 ? "" : "\n"}${printable(name)}\n`);
    const { code, results } = await examine(given, { format, verbose }, io);
    codes.push(code);
    all.push({ organization: name, steps: results });
  }
  const [only] = all;
  const document = all.length === 1 && only?.organization === null ? only.steps : all;
  if (format === "json") io.stdout(`${toPrintableJson(document, 2)}\n`);
  return Math.max(...codes);
}

async function examine(
  given: Given,
  { format, verbose }: { readonly format: "text" | "json"; readonly verbose: boolean },
  io: CommandIo,
): Promise<{ readonly code: number; readonly results: readonly DoctorResult[] }> {
  const results: DoctorResult[] = [];
  const trace = createTrace({ verbose }, (line) => io.terminal.write(`${line}\n`));
  for await (const result of diagnose({ given, signal: io.interrupted, trace })) {
    results.push(result);
    if (format === "text") io.stdout(resultText(result, io.colorStdout, io.terminal.columns || unbroken));
  }
  const failed = results.find((result) => result.state === "fail");
  if (failed === undefined) return { code: exitCodes.ok, results };
  const isOwn = failed.step === "configuration" || failed.step === "private_key";
  return { code: isOwn ? exitCodes.usage : exitCodes.unread, results };
}

/** Without a terminal a result stays one line, so that it can be searched. */
const unbroken = Number.MAX_SAFE_INTEGER;

function resultText(result: DoctorResult, color: boolean, width: number): string {
  const { step, state, detail, remedy } = result;
  const mark = color ? styleText(marks[state], state.padEnd(7), { validateStream: false }) : state.padEnd(7);
  const below = [
    ...(remedy === null ? [] : [`→ ${remedy}`]),
    ...(result.facts ?? []),
    ...(result.limits ?? []).flatMap((limit, index, limits) => limitTexts(limit, limits[index + 1])),
  ];
  const lines = [
    `${mark} ${wrapped(`${step.replaceAll("_", " ")}: ${detail}`, 10, width).join("\n")}`,
    ...below.flatMap((text) => wrapped(text, 2, width - 8).map((line) => `        ${line}`)),
  ];
  return `${lines.join("\n")}\n`;
}

/** Texts of one limit. A remedy for several in a row stands below the last of them. */
function limitTexts({ rules, outcome, why, remedy }: RuleLimit, next: RuleLimit | undefined): readonly string[] {
  const limit = `${outcome === "manual" ? "No verdict" : "In part"}: ${rules.join(", ")}: ${why}`;
  return remedy === null || remedy === next?.remedy ? [limit] : [limit, `  → ${remedy}`];
}
