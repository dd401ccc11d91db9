import * as v from "valibot";

/** One page of a list. */
/* @__NO_SIDE_EFFECTS__ */
export function pageOf<Item extends v.GenericSchema>(item: Item) {
  return v.object({
    items: v.array(item),
    next_cursor: v.pipe(v.nullable(v.string()), v.description("Null at the end")),
  });
}
