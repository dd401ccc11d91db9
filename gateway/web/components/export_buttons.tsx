import { useState } from "preact/hooks";
import { toProblem } from "../model/connection.ts";
import { toCsvFile, toJsonFile, type ExportedRow } from "../model/export_rows.ts";
import { saveFile } from "../model/report_files.ts";

interface ExportButtonsProps {
  /** Of the files: `findings`. */
  readonly name: string;
  readonly facts: Readonly<Record<string, string | null>>;
  /** What is shown, all of it; may have to be read first. */
  readonly rows: () => readonly ExportedRow[] | Promise<readonly ExportedRow[]>;
  readonly onPrint: () => void;
}

/** A list as it is filtered, for other programs and on paper. */
export function ExportButtons({ name, facts, rows, onPrint }: ExportButtonsProps) {
  const [problem, setProblem] = useState("");
  async function save(kind: "CSV" | "JSON"): Promise<void> {
    setProblem("");
    try {
      const read = await rows();
      saveFile(kind === "CSV" ? toCsvFile(name, read) : toJsonFile(name, read, facts));
    } catch (error) {
      setProblem(`No file was written: ${toProblem(error)}`);
    }
  }
  return (
    <div class="row wrap export" role="group" aria-label={`Export or print the ${name}`}>
      {(["CSV", "JSON"] as const).map((kind) => (
        <button key={kind} type="button" class="button button-small" onClick={() => void save(kind)}>
          {kind}
        </button>
      ))}
      <button type="button" class="button button-small" onClick={onPrint}>
        Print
      </button>
      <span role="alert" class="fine">
        {problem}
      </span>
    </div>
  );
}
