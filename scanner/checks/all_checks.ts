import type { Check } from "../check.ts";

/** Every check there is; the catalog gives them their order and DISA's texts. */
export const allChecks: readonly Check[] = [];
