import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ApiError, signIn } from "../api";
import { icon } from "../icons";
import { Icon } from "./ui";

export function SignIn(): JSX.Element {
  const [token, setToken] = useState("");
  const [wrong, setWrong] = useState("");
  return (
    <main class="signin">
      <form
        class="state"
        onSubmit={(e) => {
          e.preventDefault();
          signIn(token.trim()).catch((cause: ApiError) => setWrong(`${cause.message}. ${cause.detail}`));
        }}
      >
        <svg class="logo" width="40" height="40" aria-hidden="true"><use href={`#${icon.sessions}`} /></svg>
        <h1>Talaria</h1>
        <p>Open the link that Talaria printed in the terminal, or paste its token here.</p>
        <label class="field">
          Token
          <input type="password" autocomplete="off" value={token} onInput={(e) => setToken(e.currentTarget.value)} autofocus />
        </label>
        {wrong && <p class="bad" role="alert"><Icon name={icon.failed} size={14} /> {wrong}</p>}
        <button type="submit" class="primary" disabled={!token.trim()}>Sign in</button>
      </form>
    </main>
  );
}
