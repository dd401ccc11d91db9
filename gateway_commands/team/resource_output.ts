import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { requireGatewayAccess } from "../../command_line/gateway_access.ts";
import { toPrintableJson } from "../../shared/text.ts";
import { withGateway, type GatewayApi, type Resource } from "../gateway_api.ts";
import { writeList } from "../list_commands.ts";
import { entriesText, tableText, valueText } from "../printing.ts";

export interface FormatFlag {
  readonly format: string;
}

interface ListCommand {
  /** What follows "Cannot list the". */
  readonly what: string;
  readonly path: string;
  readonly format: string;
  /** Columns of the table: the heading, and what of an item stands there. */
  readonly columns: Readonly<Record<string, (item: Resource) => unknown>>;
  /** Default: all of them. */
  readonly limit?: number;
  /** For what the person typed. */
  readonly problems?: readonly string[];
}

export function listCommand(command: ListCommand, io: CommandIo) {
  const { what, path, format, columns, limit = Infinity, problems = [] } = command;
  const access = requireGatewayAccess(io.env, problems);
  const cells = Object.values(columns);
  const toTable = (items: readonly Resource[]) =>
    tableText(
      Object.keys(columns),
      items.map((item) => cells.map((cell) => valueText(cell(item)))),
    );
  return withGateway(`list the ${what}`, { access, io }, async (api) => {
    const hasMore = await writeList(api.list(path, limit), format, { io, toTable });
    if (hasMore) io.terminal.write(`There are more ${what} than these ${limit}: --limit shows them\n`);
    return exitCodes.ok;
  });
}

interface ChangeCommand {
  /** What follows "Cannot". */
  readonly what: string;
  readonly method: "POST" | "DELETE";
  readonly path: string;
  readonly body?: Resource;
  /** What is written where the answer has no body. */
  readonly done?: string;
  readonly format?: string;
  /** For what the person typed. */
  readonly problems?: readonly string[];
}

/** One request that changes something; its answer is written. */
export function changeCommand(command: ChangeCommand, io: CommandIo): Promise<number> {
  const { what, method, path, body, done = "", format = "text", problems = [] } = command;
  const access = requireGatewayAccess(io.env, problems);
  return withGateway(what, { access, io }, async (api: GatewayApi) => {
    const answer = await api.send(method, path, body);
    if (answer === null) io.terminal.write(`${done}\n`);
    else io.stdout(format === "json" ? `${toPrintableJson(answer, 2)}\n` : entriesText(answer));
    return exitCodes.ok;
  });
}

/** A column that shows one field of an item, or a field of that. */
export function field(...path: readonly string[]): (item: Resource) => unknown {
  return (item) =>
    path.reduce<unknown>(
      (value, name) => (typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined),
      item,
    );
}
