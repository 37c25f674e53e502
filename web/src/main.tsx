import { render } from "preact";
import { signInFromAddress } from "./api";
import { App } from "./app";
import { watchConnection } from "./events";
import { followAddress } from "./router";

await signInFromAddress();
followAddress();
watchConnection();
render(<App />, document.getElementById("app")!);
