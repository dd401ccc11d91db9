/** Parts of the names of issuers that the DOD approves: its own authorities, and the external ones. */
export const dodIssuers: readonly string[] = ["OU=DoD", "OU=ECA"];

/**
 * Whether a distinguished name holds every part of an approved one: `OU=DoD` is met by `CN=DOD ID CA-59, OU=PKI, OU=DoD, …`.
 * Parts are compared one by one and by whole words, so neither `OU=DoDEA` nor `CN=Not OU=DoD` meets it.
 */
export function namesApprovedIssuer(name: string, approved: readonly string[]): boolean {
  const parts = partsOf(name);
  return approved.some((pattern) => {
    const wanted = partsOf(pattern);
    return wanted.length > 0 && wanted.every((part) => parts.some((candidate) => startsWithWord(candidate, part)));
  });
}

function startsWithWord(part: string, wanted: string): boolean {
  if (!part.startsWith(wanted)) return false;
  const following = part.slice(wanted.length, wanted.length + 1);
  return following === "" || /\s/.test(following);
}

/** `CN=a\, b, OU=c` and the lines that a certificate is printed in; both without regard to case and spaces. */
function partsOf(name: string): readonly string[] {
  const parts: string[] = [];
  let part = "";
  let isEscaped = false;
  let isQuoted = false;
  // `/C=US/OU=DoD` is how OpenSSL used to print a name; elsewhere a slash is a letter like any other.
  const separators = name.startsWith("/") ? /[/\n]/ : /[,;+\n]/;
  for (const letter of name) {
    if (isEscaped || letter === "\\") isEscaped = !isEscaped;
    else if (letter === '"') isQuoted = !isQuoted;
    else if (!isQuoted && separators.test(letter)) {
      parts.push(part);
      part = "";
      continue;
    }
    part += letter;
  }
  return [...parts, part].map(normalize).filter((text) => text !== "");
}

function normalize(part: string): string {
  return part.trim().replaceAll(/\s+/g, " ").replace(/ ?= ?/, "=").toLowerCase();
}
