/** A white drawing of that size, in the plots' one font. */
export function frame(width: number, height: number, body: string): string {
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13">` +
    `<rect width="${width}" height="${height}" fill="#fff"/>${body}</svg>\n`
  );
}

interface PlotPoint {
  readonly at: number;
  readonly value: number;
}

export interface SmallPlot {
  readonly name: string;
  /** Of the line that ends highest the values are written. */
  readonly lines: readonly (readonly PlotPoint[])[];
}

const plotWidth = 330;
const plotHeight = 190;

/** Small plots, two in a row, each with a logarithmic scale to the right: what is linear in the work is level here. */
export function smallPlots(title: string, plots: readonly SmallPlot[]): string {
  const height = 50 + Math.ceil(plots.length / 2) * plotHeight;
  const body = plots.map((plot, index) => {
    const left = 50 + (index % 2) * plotWidth;
    const top = 50 + Math.floor(index / 2) * plotHeight;
    return smallPlot(plot, left, top);
  });
  return frame(680, height, `<text x="16" y="22" font-weight="600">${title}</text>${body.join("")}`);
}

function smallPlot({ name, lines }: SmallPlot, left: number, top: number): string {
  const points = lines.flat();
  const most = Math.max(...points.map(({ value }) => value));
  const [low, high] = [Math.min(...points.map(({ at }) => at)), Math.max(...points.map(({ at }) => at))].map(
    Math.log10,
  );
  const place = ({ at, value }: PlotPoint) => ({
    x: (left + ((Math.log10(at) - (low ?? 0)) / ((high ?? 1) - (low ?? 0))) * 240).toFixed(0),
    y: (top + 120 - (value / most) * 110).toFixed(0),
  });
  const drawn = lines.map((line) => {
    const places = line.map((point) => place(point));
    return (
      `<polyline points="${places.map(({ x, y }) => `${x},${y}`).join(" ")}" fill="none" stroke="#2463eb" stroke-width="2"/>` +
      places.map(({ x, y }) => `<circle cx="${x}" cy="${y}" r="3.5" fill="#2463eb"/>`).join("")
    );
  });
  const [highest = []] = lines.toSorted((a, b) => (b.at(-1)?.value ?? 0) - (a.at(-1)?.value ?? 0));
  const texts = highest.map((point) => {
    const { x, y } = place(point);
    return (
      `<text x="${x}" y="${Number(y) - 8}" text-anchor="middle" font-size="10">${point.value.toFixed(2)}</text>` +
      `<text x="${x}" y="${top + 136}" text-anchor="middle" font-size="10">${point.at.toLocaleString("en-US")}</text>`
    );
  });
  return (
    `<text x="${left}" y="${top - 14}" font-weight="600">${name}</text>` +
    `<line x1="${left - 12}" y1="${top + 120}" x2="${left + 256}" y2="${top + 120}" stroke="#9aa3b2"/>` +
    drawn.join("") +
    texts.join("")
  );
}
