import { render } from "preact";
import { signInFromAddress } from "./api";
import { App } from "./app";
import { keepUpright } from "./direction";
import { watchConnection } from "./events";
import { followAddress } from "./router";

keepUpright();
await signInFromAddress();
followAddress();
watchConnection();
render(<App />, document.getElementById("app")!);
