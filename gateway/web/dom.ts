/**
 * Elements from code. Text is only ever set as text: what a provider wrote cannot become markup, and the page's content
 * security policy (trusted types) would refuse it if somebody tried.
 */
export type Child = Node | string | null;

export interface ElementOptions {
  readonly class?: string;
  readonly text?: string;
  /** `false` leaves the attribute out, `true` sets it empty. */
  readonly attributes?: Readonly<Record<string, string | number | boolean>>;
  readonly on?: Readonly<Record<string, (event: Event) => void>>;
}

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  options: ElementOptions = {},
  children: readonly Child[] = [],
): HTMLElementTagNameMap[Tag] {
  const created = document.createElement(tag);
  apply(created, options, children);
  return created;
}

export function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  options: ElementOptions = {},
  children: readonly Child[] = [],
): SVGElementTagNameMap[Tag] {
  const created = document.createElementNS("http://www.w3.org/2000/svg", tag);
  apply(created, options, children);
  return created;
}

/** Sets text only when it is another one, so that an unchanged live region is not read out again. */
export function setText(target: Element, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}

export function setClass(target: Element, name: string): void {
  if (target.getAttribute("class") !== name) target.setAttribute("class", name);
}

export interface Row {
  readonly element: Element;
}

/**
 * Makes the children of `parent` the rows of `items`, in order: rows are made once for each key, moved only when their
 * place changed, and removed when their item is gone.
 */
export function reconcile<Item, KeyedRow extends Row>(
  parent: Element,
  items: readonly Item[],
  rows: Map<string, KeyedRow>,
  options: {
    readonly key: (item: Item) => string;
    readonly create: (item: Item) => KeyedRow;
    readonly update: (row: KeyedRow, item: Item) => void;
  },
): void {
  const unused = new Set(rows.keys());
  let place = parent.firstElementChild;
  for (const item of items) {
    const key = options.key(item);
    unused.delete(key);
    let row = rows.get(key);
    if (row === undefined) {
      row = options.create(item);
      rows.set(key, row);
    }
    options.update(row, item);
    if (row.element === place) place = place.nextElementSibling;
    else parent.insertBefore(row.element, place);
  }
  for (const key of unused) {
    rows.get(key)?.element.remove();
    rows.delete(key);
  }
}

function apply(target: Element, options: ElementOptions, children: readonly Child[]): void {
  if (options.class !== undefined) target.setAttribute("class", options.class);
  for (const [name, value] of Object.entries(options.attributes ?? {})) {
    if (value !== false) target.setAttribute(name, value === true ? "" : String(value));
  }
  for (const [name, listener] of Object.entries(options.on ?? {})) target.addEventListener(name, listener);
  if (options.text !== undefined) target.textContent = options.text;
  for (const child of children) if (child !== null) target.append(child);
}
