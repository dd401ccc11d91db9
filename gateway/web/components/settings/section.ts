import type { FunctionComponent } from "preact";
import type { Permission } from "../../../auth/permissions.ts";
import type { Session } from "../../model/session.ts";

/** One section of the settings; each is a file of its own in this folder, listed in `settings_page.tsx`. */
export interface SettingsSection {
  /** In the address: `#/settings/<id>`. */
  readonly id: string;
  readonly title: string;
  /** Those who lack it do not see the section. */
  readonly permission: Permission;
  /** Renders what stands below the section's heading. */
  readonly Content: FunctionComponent<SectionProps>;
}

export interface SectionProps {
  readonly session: Session;
}
