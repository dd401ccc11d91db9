import { render } from "preact";
import { App } from "./components/app.tsx";

render(<App />, document.getElementById("page") ?? document.body);
