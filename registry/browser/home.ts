// The demo's home: signs somebody in for the pages of the service, which share a tab's token.
/// <reference lib="dom" />
import { element, say, sayError, signIn } from "./page.js";

const key = "opwright docs tokens";

for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-login]"))
  button.addEventListener("click", () => {
    const { login = "", password = "" } = button.dataset;
    signIn(login, password).then(async (client) => {
      const tokens = await client.tokens?.get();
      sessionStorage.setItem(key, JSON.stringify({ access_token: tokens?.access_token, login }));
      say(`Signed in as ${login}: the reference and the events know you now.`);
    }, sayError);
  });

/** Whether it takes requests, as a load balancer would ask. */
async function readState(): Promise<void> {
  const { ok } = await fetch("/readyz");
  element("ready").textContent = ok ? "ready" : "not ready";
}

readState().catch(sayError);
