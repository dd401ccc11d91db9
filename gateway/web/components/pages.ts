/** Pages behind the overview, in one script that is loaded when the overview is shown. */
export { DecisionsPage } from "./decisions/decisions_page.tsx";
export { OrganizationPage } from "./organization/organization_page.tsx";
export { SettingsPage } from "./settings/settings_page.tsx";
