import { AppError } from "../../../../shared/app_error.ts";

/** What a report is made of when its findings are taken out one by one. */
export interface ReportSplitter {
  /** Throws `AppError("invalid")` where a part is too large, and what `onFinding` throws. */
  write(chunk: Uint8Array): void;
  /** The report without its findings, each of which is the number 0 in their list; and how many there were. */
  end(): { readonly text: string; readonly findingCount: number };
}

/** A finding is a few kilobytes of text; everything else of a report is bounded by its checks and controls. */
const maxFindingBytes = 1024 * 1024;
const maxRestBytes = 8 * 1024 * 1024;
const maxDepth = 100;

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const zero = new Uint8Array([0x30]);

/**
 * Reads the JSON of a report as it comes and passes each finding on as text, so that a large report is never whole in memory.
 * Only strings and brackets are followed: whatever is no JSON is found when the parts are parsed.
 */
export function createReportSplitter(onFinding: (text: string) => void): ReportSplitter {
  const rest = createBuffer(maxRestBytes, "The report is too large: expected 8 MiB at most beside its findings");
  const finding = createBuffer(maxFindingBytes, "A finding is too large: expected 1 MiB at most");
  /** Of the containers that are open: whether each is an object. */
  const isObject: boolean[] = [];
  /** The key whose value is being read, in the report itself and in a check. */
  const keys: string[] = [];
  let key: string | null = null;
  let isKeyNext = false;
  let isInString = false;
  let isEscaped = false;
  let isInFinding = false;
  let findingCount = 0;

  function write(chunk: Uint8Array): void {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (isInString) {
        if (isEscaped) isEscaped = false;
        else if (byte === backslash) isEscaped = true;
        else if (byte === quote) isInString = false;
        if (isInString && key !== null && key.length < 16) key += String.fromCharCode(byte);
        continue;
      }
      if (byte === quote) {
        isInString = true;
        key = isKeyNext ? "" : null;
      } else if (byte === colon) {
        keys[isObject.length] = key ?? "";
        isKeyNext = false;
      } else if (byte === comma) {
        isKeyNext = isObject.at(-1) === true;
      } else if (byte === openBrace || byte === openBracket) {
        if (byte === openBrace && isFindingList()) {
          rest.add(chunk.subarray(start, at));
          start = at;
          isInFinding = true;
        }
        isObject.push(byte === openBrace);
        isKeyNext = byte === openBrace;
        if (isObject.length > maxDepth)
          throw new AppError("invalid", `The report is nested more than ${maxDepth} deep`);
      } else if (byte === closeBrace || byte === closeBracket) {
        isObject.pop();
        isKeyNext = false;
        if (isInFinding && isObject.length === 4) {
          finding.add(chunk.subarray(start, at + 1));
          start = at + 1;
          isInFinding = false;
          findingCount += 1;
          rest.add(zero);
          onFinding(finding.take());
        }
      }
    }
    (isInFinding ? finding : rest).add(chunk.subarray(start));
  }

  /** Within `{"checks": [{"findings": [`. */
  function isFindingList(): boolean {
    return (
      isObject.length === 4 &&
      isObject[0] === true &&
      isObject[1] === false &&
      isObject[2] === true &&
      isObject[3] === false &&
      keys[1] === "checks" &&
      keys[3] === "findings"
    );
  }

  return {
    write,
    end() {
      // What was begun and not ended is no JSON, and is found as such.
      if (isInFinding) rest.add(new TextEncoder().encode(finding.take()));
      return { text: rest.take(), findingCount };
    },
  };
}

interface Buffer {
  add(bytes: Uint8Array): void;
  take(): string;
}

function createBuffer(maxBytes: number, tooLarge: string): Buffer {
  let decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let length = 0;
  return {
    add(bytes) {
      length += bytes.length;
      if (length > maxBytes) throw new AppError("invalid", tooLarge);
      text += decode(decoder, bytes);
    },
    take() {
      const whole = text + decode(decoder);
      decoder = new TextDecoder("utf-8", { fatal: true });
      text = "";
      length = 0;
      return whole;
    },
  };
}

function decode(decoder: TextDecoder, bytes?: Uint8Array): string {
  try {
    return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
  } catch {
    throw new AppError("malformed", "The body is not UTF-8 text");
  }
}
