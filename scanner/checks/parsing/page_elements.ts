/** Elements that a browser with scripts does not show. */
export const unshownElements = new Set("script style title noscript noembed noframes".split(" "));

/** Elements whose content is shown in part, in a way that it can be missed, or only where something fails. */
export const doubtfulElements = new Set(
  (
    "textarea select option optgroup datalist iframe object canvas video audio progress meter rp annotation annotation-xml " +
    "defs desc metadata symbol clippath mask pattern marker"
  ).split(" "),
);

/** Elements that part no words. */
export const inlineElements = new Set(
  "a abbr b bdi bdo big cite code data del dfn em font i ins kbd mark nobr q s samp small span strike strong sub sup time tt u var wbr".split(
    " ",
  ),
);
