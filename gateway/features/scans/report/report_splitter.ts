import { AppError } from "../../../../shared/app_error.ts";

/** What a report is made of when its findings are taken out one by one. */
export interface ReportSplitter {
  /** Throws `AppError("invalid")` where a part is too large, and what `onFinding` throws. */
  write(chunk: Uint8Array): void;
  /** The report without its findings, each of which is the number 0 in their list; and how many there were. */
  end(): { readonly text: string; readonly findingCount: number };
}

/** For what is kept of it: everything of a report but its findings is bounded by its checks and controls. */
const maxFindingBytes = 1024 * 1024;
const maxRestBytes = 8 * 1024 * 1024;
const maxDepth = 100;
/** More of one text, or of blanks in a row, says nothing about whether the report is valid: it is left out. */
const maxKeptRun = 16_384;

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const blank = 0x20;
const letterU = 0x75;
const escapes = new Set(new TextEncoder().encode('"\\/bfnrtu'));
const zero = new Uint8Array([0x30]);

/**
 * Reads the JSON of a report as it comes and passes each finding on as text, with a JSON pointer to it, so that a large report is never whole in memory.
 * Only strings and brackets are followed: everything else that is no JSON is found when the parts are parsed. The body is UTF-8.
 */
export function createReportSplitter(onFinding: (text: string, pointer: string) => void): ReportSplitter {
  const rest = createBuffer(maxRestBytes, "The report is too large: expected 8 MiB at most next to its findings");
  const finding = createBuffer(maxFindingBytes, "A finding is too large: expected 1 MiB at most");
  /** For the containers that are open: whether each is an object. */
  const isObject: boolean[] = [];
  /** The key whose value is being read, in the report itself and in a check. */
  const keys: string[] = [];
  /** How many commas each container that is open has had. */
  const commas: number[] = [];
  let key: string | null = null;
  let isKeyNext = false;
  let isInString = false;
  let isEscaped = false;
  let hexDigitsLeft = 0;
  let isInFinding = false;
  let findingCount = 0;
  /** For the text or the blanks that are being read. */
  let run = 0;
  /** Where what is kept of the chunk begins; null: nothing of it is, for now. */
  let start: number | null = 0;

  function write(chunk: Uint8Array): void {
    start = start === null ? null : 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (isInString) readString(chunk, byte, at);
      else readStructure(chunk, byte, at);
    }
    if (start !== null) keep(chunk.subarray(start));
  }

  function readString(chunk: Uint8Array, byte: number, at: number): void {
    const isWithinEscape = isEscaped || hexDigitsLeft > 0;
    if (hexDigitsLeft > 0) {
      if (!isHexDigit(byte)) throw noJson();
      hexDigitsLeft -= 1;
    } else if (isEscaped) {
      if (!escapes.has(byte)) throw noJson();
      isEscaped = false;
      if (byte === letterU) hexDigitsLeft = 4;
    } else if (byte === quote) {
      isInString = false;
      start ??= at;
      run = 0;
      return;
    } else if (byte < blank) {
      throw noJson();
    } else {
      isEscaped = byte === backslash;
    }
    if (key !== null && key.length < 16) key += String.fromCharCode(byte);
    run += 1;
    const isWithinCharacter = (byte & 0xc0) === 0x80;
    if (run > maxKeptRun && !isWithinEscape && !isWithinCharacter) leaveOut(chunk, at);
  }

  function readStructure(chunk: Uint8Array, byte: number, at: number): void {
    if (isBlank(byte)) {
      run += 1;
      if (run > maxKeptRun) leaveOut(chunk, at);
      return;
    }
    run = 0;
    start ??= at;
    if (byte === quote) {
      isInString = true;
      key = isKeyNext ? "" : null;
    } else if (byte === colon) {
      keys[isObject.length] = key ?? "";
      isKeyNext = false;
    } else if (byte === comma) {
      commas[isObject.length] = (commas[isObject.length] ?? 0) + 1;
      isKeyNext = isObject.at(-1) === true;
    } else if (byte === openBrace || byte === openBracket) {
      if (byte === openBrace && isFindingList()) {
        keep(chunk.subarray(start, at));
        start = at;
        isInFinding = true;
      }
      isObject.push(byte === openBrace);
      commas[isObject.length] = 0;
      isKeyNext = byte === openBrace;
      if (isObject.length > maxDepth) throw new AppError("invalid", `The report is nested more than ${maxDepth} deep`);
    } else if (byte === closeBrace || byte === closeBracket) {
      isObject.pop();
      isKeyNext = false;
      if (!isInFinding || isObject.length !== 4) return;
      keep(chunk.subarray(start, at + 1));
      start = at + 1;
      isInFinding = false;
      findingCount += 1;
      keep(zero);
      onFinding(finding.take(), `/checks/${commas[2]}/findings/${commas[4]}`);
    }
  }

  function keep(bytes: Uint8Array): void {
    (isInFinding ? finding : rest).add(bytes);
  }

  function leaveOut(chunk: Uint8Array, at: number): void {
    if (start !== null) keep(chunk.subarray(start, at));
    start = null;
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

/** What is added ends with a whole character, or goes on with the next. */
function createBuffer(maxBytes: number, tooLarge: string): Buffer {
  const decoder = new TextDecoder();
  let text = "";
  let length = 0;
  return {
    add(bytes) {
      length += bytes.length;
      if (length > maxBytes) throw new AppError("invalid", tooLarge);
      text += decoder.decode(bytes, { stream: true });
    },
    take() {
      const whole = text + decoder.decode();
      text = "";
      length = 0;
      return whole;
    },
  };
}

function isBlank(byte: number): boolean {
  return byte === blank || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isHexDigit(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}

/** The parser's own message would quote the body. */
export function noJson(): AppError {
  return new AppError("malformed", "The body is not JSON");
}
