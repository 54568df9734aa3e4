// Who is signed in on the documentation's pages: tokens in the tab's own storage, a form, a choice of tenant.

const key = "opwright docs tokens";

/** @returns {string | null} the token that requests are made with */
export function token() {
  return JSON.parse(sessionStorage.getItem(key) ?? "null")?.access_token ?? null;
}

const { tokenHeader, tokenScheme } = JSON.parse(document.getElementById("config").textContent);

/** The headers that requests are made with. */
export function credentials() {
  const held = token();
  return held === null ? {} : { [tokenHeader]: `${tokenScheme} ${held}` };
}

/** An element with properties and children. */
export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** The JSON of a request; throws what the service says of a fault. */
export async function request(method, path, body) {
  const response = await fetch(path, {
    method,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...credentials(),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = response.status === 204 ? undefined : await response.json();
  if (!response.ok) throw new Error(`${answer.code}: ${answer.detail}`);
  return answer;
}

/** What the token says of itself; nothing where it is no JWT. */
function claims() {
  try {
    return JSON.parse(atob(token().split(".")[1].replaceAll("-", "+").replaceAll("_", "/")));
  } catch {
    return {};
  }
}

/** How long the token lasts; for ever where it does not say. */
function millisLeft() {
  const { exp } = claims();
  return typeof exp === "number" ? exp * 1_000 - Date.now() : Number.POSITIVE_INFINITY;
}

/** Where an operation is, by its id; undefined where it is not attached. */
function routeOf(openapi, operationId) {
  for (const [path, methods] of Object.entries(openapi.paths))
    for (const [method, operation] of Object.entries(methods))
      if (operation.operationId === operationId) return { method: method.toUpperCase(), path };
  return undefined;
}

/** Shows the form; `changed` is called whenever somebody else is signed in. */
export async function session(changed = () => undefined) {
  const form = document.getElementById("session");
  const openapi = await request("GET", "/openapi.json");
  const login = routeOf(openapi, "authn.password_login");
  const tenants = routeOf(openapi, "tenants.list_tenants");
  const activate = routeOf(openapi, "tenants.switch_tenant");
  // A service that has nobody to ask for.
  if (openapi.components?.securitySchemes === undefined) return;
  let expiry;
  /** Keeps the access token alone: who wants to go on after its end signs in again. */
  const keep = (tokens) => {
    clearTimeout(expiry);
    if (tokens === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify({ access_token: tokens.access_token }));
    show();
    changed();
  };
  /** Does a work for the form, and shows what goes wrong with it. */
  const told = (work) => async (event) => {
    event?.preventDefault();
    try {
      await work();
    } catch (error) {
      form.append(element("span", { className: "error", textContent: error.message }));
    }
  };
  let submit = () => undefined;
  form.addEventListener("submit", (event) => submit(event));
  const ask = ({ fields, label, tokens }) => {
    form.replaceChildren(...fields, element("button", { textContent: label }));
    submit = told(async () => keep(await tokens()));
  };
  const show = () => {
    form.hidden = false;
    const left = millisLeft();
    if (token() !== null && left <= 0) return keep(null);
    if (token() !== null) expiry = setTimeout(() => keep(null), Math.min(left, 2 ** 31 - 1));
    if (token() === null) return ask(login === undefined ? tokenForm() : loginForm(login));
    const out = element("button", {
      textContent: "Sign out",
      type: "button",
      onclick: () => keep(null),
    });
    form.replaceChildren(out);
    if (tenants === undefined || activate === undefined) return;
    void told(async () => {
      const choice = await tenantChoice(tenants);
      const switchTenant = told(async () => {
        if (choice.value === "") return;
        keep(await request(activate.method, activate.path.replace("{id}", choice.value)));
      });
      choice.addEventListener("change", switchTenant);
      form.prepend(choice);
    })();
  };
  show();
}

/** Asks for a token, where the service gives none itself. */
function tokenForm() {
  const given = element("input", {
    id: "token",
    type: "password",
    placeholder: "access token",
  });
  return { fields: [given], label: "Use it", tokens: () => ({ access_token: given.value }) };
}

/** Asks for a login and a password. */
function loginForm({ method, path }) {
  const name = element("input", {
    id: "login",
    placeholder: "login",
    autocomplete: "username",
  });
  const password = element("input", {
    id: "password",
    type: "password",
    placeholder: "password",
    autocomplete: "current-password",
  });
  const tokens = () => request(method, path, { login: name.value, password: password.value });
  return { fields: [name, password], label: "Sign in", tokens };
}

/** The caller's tenants, to choose from. */
async function tenantChoice({ method, path }) {
  const { tenants } = await request(method, path);
  const choice = element(
    "select",
    { id: "tenant" },
    element("option", { value: "", textContent: "choose a tenant" }),
  );
  for (const { tenant_id: value, tenant_key: textContent, is_current: selected } of tenants)
    choice.append(element("option", { value, textContent, selected }));
  return choice;
}
