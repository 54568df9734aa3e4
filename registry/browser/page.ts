// What the demo's pages share: the client, who is signed in, and a few steps with the DOM.
/// <reference lib="dom" />
import {
  authn,
  createClient,
  tenants,
  type Client,
  type Tokens,
} from "../../generated/client/index.js";

/** An element of the page by its id. */
export function element<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found as Kind;
}

/** What a field has. */
export function valueOf(id: string): string {
  return element<HTMLInputElement>(id).value;
}

/** Says something where the page has a place for it. */
export function say(text: string): void {
  element("status").textContent = text;
}

/** Runs what a form asks for, and says what goes wrong. */
export function onSubmit(id: string, work: () => Promise<void>): void {
  element(id).addEventListener("submit", (event) => {
    event.preventDefault();
    work().catch(sayError);
  });
}

export function sayError(error: unknown): void {
  say(error instanceof Error ? error.message : String(error));
}

/** A client of whoever the page's form names, in the first of their tenants. */
export async function signIn(login: string, password: string): Promise<Client> {
  const anonymous = createClient({ baseUrl: location.origin });
  const first = await authn.passwordLogin(anonymous, { login, password });
  let kept: Tokens | null = first;
  const client = createClient({
    baseUrl: location.origin,
    tokens: {
      get: () => kept,
      set(tokens) {
        kept = tokens;
      },
      caller: () => login,
    },
  });
  const [tenant] = (await tenants.listTenants(client)).tenants;
  if (tenant === undefined) throw new Error(`${login} is in no tenant`);
  kept = await tenants.switchTenant(client, { id: tenant.tenant_id });
  return client;
}
