import type { ComponentType } from "preact";
import type { Session } from "../../model/session.ts";
import { mayDo } from "../../model/caller.ts";
import { BackLink, Message } from "../basics.tsx";
import { useTitle } from "../hooks.ts";
import { KeysSettings } from "./keys_settings.tsx";
import { MembersSettings } from "./members_settings.tsx";

interface SettingsSection {
  /** `#/settings/<id>`. */
  readonly id: string;
  readonly title: string;
  readonly Section: ComponentType<{ readonly session: Session }>;
}

/** The first one is shown where the address names none. */
const sections: readonly [SettingsSection, ...SettingsSection[]] = [
  { id: "members", title: "Members", Section: MembersSettings },
  { id: "keys", title: "API keys", Section: KeysSettings },
];

/** Members and API keys, a section each. */
export function SettingsPage({ session, section }: { readonly session: Session; readonly section: string }) {
  const current = sections.find(({ id }) => id === section) ?? sections[0];
  const mayManage = mayDo(session.caller, "manage");
  useTitle(mayManage ? `${current.title} · Settings` : "Settings");
  const { Section } = current;
  if (!mayManage) {
    const text = "You do not have access to the settings. Ask an admin of this tenant.";
    return (
      <>
        <BackLink />
        <Message level={1} title="Settings" text={text} />
      </>
    );
  }
  return (
    <article class="settings" aria-labelledby="settings-title">
      <BackLink />
      <h1 id="settings-title">Settings</h1>
      {section !== "" && current.id !== section && (
        <p class="problem tinted tone-manual" role="status">
          {`There is no section "${section}".`}
        </p>
      )}
      <nav class="settings-sections row wrap" aria-label="Settings">
        {sections.map(({ id, title }) => (
          <a key={id} class="button" href={`#/settings/${id}`} aria-current={id === current.id ? "page" : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <section key={current.id} class="card settings-section" aria-labelledby="settings-section">
        <h2 id="settings-section">{current.title}</h2>
        <Section session={session} />
      </section>
    </article>
  );
}
