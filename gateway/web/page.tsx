import { render } from "preact";
import { App } from "./components/app.tsx";

if (window.parent === window) render(<App />, document.getElementById("page") ?? document.body);
// In the hidden frame that renews a sign-in. The answer goes only to a page of the gateway; nothing else may frame this one.
else window.parent.postMessage({ scanstreamSignIn: location.search }, location.origin);
