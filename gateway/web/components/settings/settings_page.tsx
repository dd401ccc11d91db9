import type { ComponentType } from "preact";
import type { Session } from "../../model/session.ts";
import { Icon } from "../basics.tsx";
import { useTitle } from "../hooks.ts";
import { mayDo } from "../../model/caller.ts";
import { SessionSettings } from "./session_settings.tsx";
import { TenantSettings } from "./tenant_settings.tsx";

interface SettingsSection {
  /** `#/settings/<id>`. */
  readonly id: string;
  readonly title: string;
  /** Whether the caller has anything to do there. */
  isFor(session: Session): boolean;
  readonly Section: ComponentType<{ readonly session: Session }>;
}

/** The first one is shown where the address names none. */
const sections: readonly SettingsSection[] = [
  { id: "session", title: "Your session", isFor: () => true, Section: SessionSettings },
  { id: "tenant", title: "Tenant", isFor: ({ caller }) => mayDo(caller, "manage"), Section: TenantSettings },
];

/** What is not about one scan, a section each. */
export function SettingsPage({ session, section }: { readonly session: Session; readonly section: string }) {
  const shown = sections.filter((candidate) => candidate.isFor(session));
  const current = shown.find(({ id }) => id === section) ?? shown[0];
  useTitle("Settings");
  if (current === undefined) return null;
  const { Section } = current;
  return (
    <>
      <a class="back row strong" href="#/">
        <Icon name="back" />
        All scans
      </a>
      <h1>Settings</h1>
      {shown.length > 1 && (
        <nav class="row wrap" aria-label="Settings">
          {shown.map(({ id, title }) => (
            <a key={id} class="button" href={`#/settings/${id}`} aria-current={id === current.id ? "page" : undefined}>
              {title}
            </a>
          ))}
        </nav>
      )}
      <section class="card stack" aria-labelledby="settings-section">
        <h2 id="settings-section">{current.title}</h2>
        <Section session={session} />
      </section>
    </>
  );
}
