import { renderHdf } from "./hdf.ts";
import { portableRenderers } from "./portable_formats.ts";
import { formatKinds, type FormatName, type Renderer } from "./report_format.ts";
import { renderTable } from "./table.ts";

const renderers: Readonly<Record<FormatName, Renderer>> = { ...portableRenderers, table: renderTable, hdf: renderHdf };

export const reportFormats = formatKinds.map((kind) => ({ ...kind, render: renderers[kind.name] }));
