import { useLayoutEffect } from "preact/hooks";
import type { Session } from "../../model/session.ts";
import { mayDo } from "../../model/caller.ts";
import { Icon, Message } from "../basics.tsx";
import { useTitle } from "../hooks.ts";
import { accessSection } from "./access_section.tsx";
import type { SettingsSection } from "./section.ts";

/** In the order in which they are offered. */
const sections: readonly SettingsSection[] = [accessSection];

interface SettingsPageProps {
  readonly session: Session;
  /** Empty: the first section. */
  readonly sectionId: string;
}

/** One section at a time, beside the names of those that the caller may see. */
export function SettingsPage({ session, sectionId }: SettingsPageProps) {
  const { caller } = session;
  const offered = sections.filter(({ permission }) => mayDo(caller, permission));
  const section = sectionId === "" ? offered[0] : offered.find(({ id }) => id === sectionId);
  useTitle(section === undefined ? "Settings" : `${section.title} · Settings`);
  useLayoutEffect(() => scrollTo(0, 0), [section]);

  return (
    <article class="scan settings" aria-labelledby="settings-title">
      <header class="scan-head">
        <a class="back row strong" href="#/">
          <Icon name="back" />
          All scans
        </a>
        <div class="scan-title row wrap">
          <h1 id="settings-title">Settings</h1>
        </div>
        <p class="scan-meta text">{caller.tenant?.name}</p>
      </header>
      <nav class="settings-sections row wrap" aria-label="Settings">
        {offered.map(({ id, title }) => (
          <a key={id} class="button" href={`#/settings/${id}`} aria-current={id === section?.id ? "page" : undefined}>
            {title}
          </a>
        ))}
      </nav>
      {section === undefined && (
        <Message level={2} title="No such section" text="There is none, or your role does not include it." />
      )}
      {section !== undefined && (
        <section key={section.id} class="card settings-section" aria-labelledby="section-title">
          <h2 id="section-title">{section.title}</h2>
          <section.Content session={session} />
        </section>
      )}
    </article>
  );
}
