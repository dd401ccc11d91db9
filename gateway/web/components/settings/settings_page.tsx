import type { ComponentType } from "preact";
import type { Session } from "../../model/session.ts";
import { mayDo } from "../../model/caller.ts";
import { BackLink } from "../basics.tsx";
import { useTitle } from "../hooks.ts";
import { KeysSettings } from "./keys_settings.tsx";
import { MembersSettings } from "./members_settings.tsx";
import { SessionSettings } from "./session_settings.tsx";

interface SettingsSection {
  /** `#/settings/<id>`. */
  readonly id: string;
  readonly title: string;
  /** Whether the caller has anything to do there. */
  isFor(session: Session): boolean;
  readonly Section: ComponentType<{ readonly session: Session }>;
}

const mayManage = ({ caller }: Session) => mayDo(caller, "manage");

/** The first one is shown where the address names none. */
const sections: readonly SettingsSection[] = [
  { id: "session", title: "Your session", isFor: () => true, Section: SessionSettings },
  { id: "members", title: "Members", isFor: mayManage, Section: MembersSettings },
  { id: "keys", title: "API keys", isFor: mayManage, Section: KeysSettings },
];

/** What is not about one scan, a section each. */
export function SettingsPage({ session, section }: { readonly session: Session; readonly section: string }) {
  const shown = sections.filter((candidate) => candidate.isFor(session));
  const current = shown.find(({ id }) => id === section) ?? shown[0];
  useTitle(current === undefined ? "Settings" : `${current.title} · Settings`);
  if (current === undefined) return null;
  const { Section } = current;
  return (
    <article class="settings" aria-labelledby="settings-title">
      <BackLink />
      <h1 id="settings-title">Settings</h1>
      {section !== "" && current.id !== section && (
        <p class="problem tinted tone-manual" role="status">
          {sections.some(({ id }) => id === section)
            ? `You do not have access to "${sections.find(({ id }) => id === section)?.title ?? section}". Ask an admin of this tenant.`
            : `There is no section "${section}".`}
        </p>
      )}
      {shown.length > 1 && (
        <nav class="settings-sections row wrap" aria-label="Settings">
          {shown.map(({ id, title }) => (
            <a key={id} class="button" href={`#/settings/${id}`} aria-current={id === current.id ? "page" : undefined}>
              {title}
            </a>
          ))}
        </nav>
      )}
      <section key={current.id} class="card settings-section" aria-labelledby="settings-section">
        <h2 id="settings-section">{current.title}</h2>
        <Section session={session} />
      </section>
    </article>
  );
}
