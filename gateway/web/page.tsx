import { render } from "preact";
import { App } from "./components/app.tsx";
import { keepFocus } from "./components/keep_focus.ts";

if (window.parent === window) {
  render(<App />, document.getElementById("page") ?? document.body);
  keepFocus();
}
// In the hidden frame that renews a sign-in. The answer goes only to a page of the gateway; nothing else may frame this one.
else window.parent.postMessage({ scanstreamSignIn: location.search }, location.origin);
