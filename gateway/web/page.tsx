import { render } from "preact";
import { App } from "./components/app.tsx";
import { answerFromFrame } from "./model/sign_in/authorization.ts";

if (!answerFromFrame()) render(<App />, document.getElementById("page") ?? document.body);
