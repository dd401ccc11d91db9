import { mayDo, type Session } from "../../model/session.ts";
import { BackLink, MissingPage } from "../basics.tsx";
import { useTitle } from "../hooks.ts";
import { Keys } from "./keys.tsx";
import { Members } from "./members.tsx";

const sections = [
  { id: "members", title: "Members", Section: Members },
  { id: "keys", title: "API keys", Section: Keys },
] as const;

/** Members and API keys, a section each. */
export function SettingsPage({ session, section }: { readonly session: Session; readonly section: string }) {
  const current = sections.find(({ id }) => id === section) ?? sections[0];
  const mayManage = mayDo(session.caller, "manage");
  useTitle(mayManage ? `${current.title} · Settings` : "Settings");
  if (!mayManage) {
    const text = "You do not have access to the settings. Ask an admin of this tenant.";
    return <MissingPage title="Settings" text={text} />;
  }
  const { Section } = current;
  return (
    <article class="stack" aria-labelledby="settings-title">
      <header class="head row wrap">
        <BackLink />
        <h1 id="settings-title">Settings</h1>
        <nav class="segments" aria-label="Settings">
          {sections.map(({ id, title }) => (
            <a key={id} href={`#/settings/${id}`} aria-current={id === current.id ? "page" : undefined}>
              {title}
            </a>
          ))}
        </nav>
      </header>
      <section key={current.id} class="card stack" aria-label={current.title}>
        <Section session={session} />
      </section>
    </article>
  );
}
