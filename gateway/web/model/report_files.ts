import { type Api, toScanPath } from "./api.ts";

/** The formats that the page writes, each with its purpose. */
export const reportChoices = [
  { name: "html", label: "HTML", purpose: "A page to read and print" },
  { name: "markdown", label: "Markdown", purpose: "Text for a wiki or a ticket" },
  { name: "csv", label: "CSV", purpose: "A table for a spreadsheet" },
  { name: "cklb", label: "CKLB", purpose: "A checklist for STIG Viewer 3" },
  { name: "ckl", label: "CKL", purpose: "A checklist for STIG Viewer 2" },
  { name: "xccdf", label: "XCCDF", purpose: "Results for SCAP tools" },
  { name: "oscal", label: "OSCAL", purpose: "Assessment results" },
  { name: "poam", label: "POA&M", purpose: "A plan of action and milestones" },
  { name: "ocsf", label: "OCSF", purpose: "Findings for a SIEM" },
  { name: "sarif", label: "SARIF", purpose: "Findings for code scanning" },
  { name: "junit", label: "JUnit", purpose: "Test results for CI" },
  { name: "json", label: "JSON", purpose: "Everything, for a program" },
] as const;

/** As `command_line/report_page.ts` exports it, which the page loads by its address. */
interface ReportWriters {
  readonly reportWriters: readonly {
    readonly name: string;
    readonly extension: string;
    write(report: unknown): string;
  }[];
}

/** The stored report of a scan as a file. Rejects as `RestClient` does. */
export async function readReportFile(
  api: Pick<Api, "send">,
  scanId: string,
  { format, signal }: { readonly format: string; readonly signal: AbortSignal },
): Promise<{ readonly name: string; readonly file: Blob }> {
  const reading = api.send("GET", `${toScanPath(scanId)}/report`, { signal });
  const [report, { reportWriters }] = await Promise.all([reading, loadWriters()]);
  const writer = reportWriters.find(({ name }) => name === format);
  if (writer === undefined) throw new TypeError(`Cannot write a report: there is no format ${JSON.stringify(format)}`);
  return { name: `scan-${scanId}.${writer.extension}`, file: new Blob([writer.write(report)]) };
}

/** Large, and of no use to most visits: loaded with the first report. */
async function loadWriters(): Promise<ReportWriters> {
  const path = document.querySelector<HTMLMetaElement>('meta[name="report-writers"]')?.content ?? "";
  // The file's name has a hash of its content, which only the page knows.
  const loading = import(new URL(path, document.baseURI).href) as Promise<ReportWriters>;
  return loading.catch((cause: unknown) => {
    // The files of a gateway that was upgraded have other names.
    throw new Error("the script of its formats could not be loaded: reload the page", { cause });
  });
}

/** Hands a file to the browser, as a link with `download` does. */
export function saveFile({ name, file }: { readonly name: string; readonly file: Blob }): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // Not at once: some browsers read it after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
