import { render } from "preact";
import { App } from "./components/app.tsx";
import { answerFromFrame } from "./model/sign_in/authorization.ts";
import { countTab } from "./model/tabs.ts";

if (!answerFromFrame()) {
  countTab();
  render(<App />, document.getElementById("page") ?? document.body);
}
