import * as v from "valibot";
import { requireCheckName } from "../../shared/rule_names.ts";
import { textParameter } from "../http/query.ts";

/** The name of the check that a query's parameter names. */
/* @__NO_SIDE_EFFECTS__ */
export function checkParameter(description: string) {
  return v.pipe(
    textParameter(200, description),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const named = requireCheckName(dataset.value);
      if ("check" in named) return named.check;
      addIssue({ message: named.problem });
      return NEVER;
    }),
  );
}
