import { render } from "preact";
import { App } from "./components/app.tsx";
import { keepFocus } from "./components/keep_focus.ts";

const tooOld =
  "This browser is too old for this page. Use Chrome or Edge 123, Firefox 125, Safari 17.5, or a later one.";
const page = document.getElementById("page") ?? document.body;

if (window.parent === window) {
  // The newest features that the page cannot do without; Firefox got `:popover-open` last, the others `light-dark()`.
  if (CSS.supports("(color: light-dark(red, red)) and selector(:popover-open)")) {
    render(<App />, page);
    keepFocus();
  } else {
    render(<main class="center">{tooOld}</main>, page);
  }
}
// In the hidden frame that renews a sign-in. The answer goes only to a page of the gateway; nothing else may frame this one.
else window.parent.postMessage({ scanstreamSignIn: location.search }, location.origin);
