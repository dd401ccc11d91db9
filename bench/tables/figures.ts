import type { FanOut } from "./fan_out.ts";
import { figureTable, readResult } from "./results.ts";

type Named<Figure> = Readonly<Record<string, Readonly<Record<string, Figure>>>>;
type Opening = Readonly<
  Partial<Record<"opensPerSecond" | "cpuMicroseconds" | "roundTrips" | "seconds" | "streams" | "refused", number>>
>;
type Memory = Readonly<Record<"bytesPerStream" | "idleCpuShare", number>>;

/** What is one figure each. */
export async function figuresSection(): Promise<string> {
  const opening = (await readResult<Named<Opening>>("opening")).figures["C1 opening streams"] ?? {};
  const memory = (await readResult<Named<Memory>>("memory")).figures["M1 10,000 idle streams"] ?? {};
  const processes = (await readResult<FanOut>("processes")).figures;
  const { gzipKiB } = (await readResult<{ readonly gzipKiB: number }>("bundle")).figures;
  const rows: (readonly [string, string])[] = [];
  for (const [who, { opensPerSecond, cpuMicroseconds, roundTrips, seconds, streams, refused }] of Object.entries(
    opening,
  )) {
    if (opensPerSecond === undefined) {
      rows.push([
        `C1, ${streams?.toLocaleString("en-US")} streams cut at once and back`,
        `${seconds?.toFixed(1)} s, ${refused} refused`,
      ]);
    } else {
      const each = `${cpuMicroseconds?.toFixed(0)} µs of CPU and ${roundTrips?.toFixed(2)} round trips each`;
      rows.push([`C1, ${who}`, `${opensPerSecond.toFixed(0)} streams/s, ${each}`]);
    }
  }
  for (const [name, { bytesPerStream, idleCpuShare }] of Object.entries(memory)) {
    const idle = `idle ${(idleCpuShare * 100).toFixed(1)} % of a core`;
    rows.push([`M1, ${name}`, `${(bytesPerStream / 1024).toFixed(1)} KiB a stream, ${idle}`]);
  }
  const servers = Object.entries(processes).flatMap(([title, named]) =>
    Object.entries(named).map(([name, point]) => [`${title}: ${name}`, point] as const),
  );
  for (const [name, point] of servers) {
    const cpu = `${point.cpuMicroseconds.toFixed(2)} µs of CPU each, the client's ${point.clientCpuMicroseconds.toFixed(2)} µs`;
    const busy = `the machine ${(point.machineBusyShare * 100).toFixed(0)} % busy`;
    rows.push([name, `${(point.eventsPerSecond / 1000).toFixed(0)} k events/s, ${cpu}, ${busy}`]);
  }
  return figureTable([...rows, ["W1, Worker bundle", `${gzipKiB.toFixed(1)} KiB gzip`]]);
}
