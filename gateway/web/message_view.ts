import { element } from "./dom.ts";

/** What stands where there is nothing else to show, so that no state of the page is blank. */
export function createMessage(options: {
  readonly title: string;
  readonly text: string;
  readonly code?: string;
  readonly action?: { readonly label: string; readonly run: () => void };
  /** Of its heading. */
  readonly level: 1 | 2 | 3;
}): HTMLElement {
  const { action } = options;
  return element("div", { class: "message" }, [
    element(`h${options.level}`, { class: "message-title", text: options.title }),
    element("p", { text: options.text }),
    options.code === undefined ? null : element("pre", {}, [element("code", { text: options.code })]),
    action === undefined
      ? null
      : element("button", {
          class: "button button-primary",
          text: action.label,
          attributes: { type: "button" },
          on: { click: action.run },
        }),
  ]);
}
