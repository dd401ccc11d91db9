import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { printLines } from "../../command_line/terminal.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { catalog } from "../catalog/catalog.ts";
import { sha256 } from "../digest.ts";
import { reportedOrgPolicy } from "../org_policy/document.ts";
import { draftOrgPolicy } from "../org_policy/draft.ts";
import { examineOrgPolicy } from "../org_policy/examine.ts";
import { readOrgPolicy } from "../org_policy/read_org_policy.ts";
import type { Flags } from "../settings/read_settings.ts";
import { openSource } from "./sources.ts";

/** `org-policy draft`, and `org-policy check FILE`: 1 where something has to be done about the document. */
export async function orgPolicyCommand(flags: Flags, io: CommandIo, action?: string, file?: string): Promise<number> {
  if (action === "draft" && file === undefined) return draft(flags, io);
  if (action === "check" && file !== undefined) return check(file, flags, io);
  throw new UsageError([
    action === "check"
      ? "FILE is missing: expected the document to check"
      : `Unknown action ${JSON.stringify([action, file].filter(Boolean).join(" "))}: expected draft, or check FILE`,
  ]);
}

async function draft(flags: Flags, io: CommandIo): Promise<number> {
  const source = await openSource("org-policy", flags, io);
  const day = io.now().toISOString().slice(0, 10);
  io.stdout(`${JSON.stringify(draftOrgPolicy(source.document, day), null, 2)}\n`);
  io.terminal.write(
    "This is the org as it is, not as it should be. Compare it with your organization's document, then fill in approved_by, reference and the other empty texts.\n",
  );
  return exitCodes.ok;
}

/** Checks the document; its names are looked up where `--org`, `--org-url` or evidence names an org. */
async function check(file: string, flags: Flags, io: CommandIo): Promise<number> {
  const isCompared =
    flags["org"] !== undefined || flags["fromArtifacts"] !== undefined || flags["orgUrl"] !== undefined;
  const source = isCompared ? await openSource("org-policy", flags, io) : null;
  const document = source?.document ?? null;
  const expected = { orgUrl: document?.scan.org_url ?? null, checks: catalog };
  const policy = await readOrgPolicy({ option: "the document", file }, expected);
  if (policy === null) throw new TypeError("A file was given");
  const at = io.now().toISOString();
  const { lines, isFine } = examineOrgPolicy(policy, at, document?.artifacts ?? null);
  printLines(io, ...lines, `SHA-256 in reports: ${reportedOrgPolicy(policy, at, sha256).sha256}`);
  return isFine ? exitCodes.ok : exitCodes.findings;
}
