import type { CollectedArtifacts } from "../../evidence/artifacts.ts";
import type { FindingDraft } from "../check.ts";
import { directoryOf, type DirectoryEvidence } from "../parsing/directory.ts";
import { citationOf, restsOn, type OrgPolicy } from "../../org_policy/document.ts";
import { Subject } from "./finding_drafts.ts";

/**
 * DISA exempts an org that relies on a directory for its users. No answer shows whether accounts of Okta's own exist beside the
 * directory's, so a FAIL is proven only where no directory is in use.
 */
export function unlessDirectory(
  draft: FindingDraft,
  artifacts: Pick<CollectedArtifacts, DirectoryEvidence>,
  policy: OrgPolicy | undefined,
): FindingDraft {
  if (draft.status !== "FAIL") return draft;
  const { actual } = draft;
  const subject = new Subject(draft.resource, draft.expected);
  const source = directoryOf(artifacts);
  if (source.kind === "none") return source.hidesApps ? { ...draft, note: hiddenApps } : draft;
  if (source.kind === "missing") return { ...subject.missing(source.evidence), actual };
  if (source.kind === "unreadable")
    return subject.manual("unreadable", `${actual}, and what this version cannot read, ${source.found}`);
  if (policy?.user_sourcing === undefined) {
    const note =
      "if accounts exist that Okta masters, this is a finding; if none does, attest the rule as Not Applicable";
    return subject.noting(note).manual("needs_review", `${actual}, and ${source.what}`);
  }
  const notes = { ...draft.notes, rests_on: restsOn(policy) };
  if (policy.user_sourcing !== "directory")
    return { ...draft, note: `${citationOf(policy)} says that Okta masters accounts`, notes };
  const note = `${citationOf(policy)} says that a directory masters every account`;
  return { ...subject.noting(note).manual("not_applicable", `${actual}, and ${source.what}`), notes };
}

const hiddenApps = "the administrator role of this run cannot see a directory that exists only as an app";
