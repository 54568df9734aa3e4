// Sign-in, sign-out and the choice of a tenant, once for all pages.
import { useEffect, useRef, useState } from "preact/hooks";
import type { JSX } from "preact";
import type { OpenApi } from "../openapi/document.js";
import { operationsOf } from "../openapi/operations.js";
import { Dialog } from "../parts/dialog.js";
import { Field } from "../parts/field.js";
import { RequestError, requestJson } from "./request.js";
import { forgetLater, holder, holderText, heldToken, keepToken, onTokenChange } from "./tokens.js";

interface Tenant {
  readonly tenant_id: string;
  readonly tenant_key: string;
  readonly is_current: boolean;
}

interface TokenAnswer {
  readonly access_token: string;
}

/** The token of who is signed in, kept up to date. */
export function useToken(): string | null {
  return useHeld(heldToken);
}

/** In words who requests are made as, kept up to date. */
export function useHolderText(): string {
  return useHeld(holderText);
}

function useHeld<T extends string | null>(read: () => T): T {
  const [held, setHeld] = useState(read);
  useEffect(() => {
    forgetLater();
    return onTokenChange(() => setHeld(read()));
  }, []);
  return held;
}

const signInId = "sign-in";

/** Opens the dialog to sign in, wherever in the page somebody asks for it. */
export function askToSignIn(): void {
  const dialog = document.getElementById(signInId);
  if (dialog instanceof HTMLDialogElement) dialog.showModal();
}

/** Whether a service knows its callers, so that one can sign in. */
export function hasSignIn({ components }: OpenApi): boolean {
  return components?.securitySchemes !== undefined;
}

/** The corner of the navigation that says who is signed in. */
export function Session({ openapi }: { readonly openapi: OpenApi }): JSX.Element | null {
  const token = useToken();
  const dialog = useRef<HTMLDialogElement>(null);
  if (!hasSignIn(openapi)) return null;
  if (token === null)
    return (
      <div class="session" id="session">
        <button type="button" onClick={askToSignIn}>
          Sign in
        </button>
        <SignIn openapi={openapi} dialog={dialog} />
      </div>
    );
  return (
    <div class="session" id="session">
      <span class="small quiet holder">{holder().login ?? ""}</span>
      <TenantChoice openapi={openapi} token={token} />
      <button type="button" onClick={() => keepToken(null)}>
        Sign out
      </button>
    </div>
  );
}

interface SignInProps {
  readonly openapi: OpenApi;
  readonly dialog: { readonly current: HTMLDialogElement | null };
}

/** Asks for a login and a password, or for a token where the service gives none itself. */
function SignIn({ openapi, dialog }: SignInProps): JSX.Element {
  const [error, setError] = useState("");
  const login = operationsOf(openapi).get("authn.password_login");
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    try {
      const token =
        login === undefined ? String(given.get("token")) : await tokenOf(login.path, given);
      keepToken(token, login === undefined ? {} : { login: String(given.get("login")) });
      dialog.current?.close();
    } catch (fault) {
      setError(fault instanceof Error ? fault.message : String(fault));
    }
  };
  return (
    <Dialog id={signInId} title="Sign in" dialog={dialog}>
      <form class="stack" onSubmit={(event) => void submit(event)}>
        {login === undefined ? (
          <Field label="Access token">
            <input id="token" name="token" type="password" required autocomplete="off" />
          </Field>
        ) : (
          <>
            <Field label="Login">
              <input id="login" name="login" required autocomplete="username" />
            </Field>
            <Field label="Password">
              <input
                id="password"
                name="password"
                type="password"
                required
                autocomplete="current-password"
              />
            </Field>
          </>
        )}
        {error !== "" && (
          <p class="message bad" role="alert">
            {error}
          </p>
        )}
        <button class="primary" type="submit">
          Sign in
        </button>
      </form>
    </Dialog>
  );
}

async function tokenOf(path: string, given: FormData): Promise<string> {
  const body = { login: given.get("login"), password: given.get("password") };
  return (await requestJson<TokenAnswer>("POST", path, body)).access_token;
}

/** The caller's tenants, to choose from. A caller of one tenant is in it at once. */
function TenantChoice({
  openapi,
  token,
}: {
  readonly openapi: OpenApi;
  readonly token: string;
}): JSX.Element | null {
  const [tenants, setTenants] = useState<readonly Tenant[]>([]);
  const operations = operationsOf(openapi);
  const list = operations.get("tenants.list_tenants");
  const enter = operations.get("tenants.switch_tenant");
  const change = async (tenant: Tenant | undefined): Promise<void> => {
    if (enter === undefined || tenant === undefined) return;
    const path = enter.path.replace("{id}", encodeURIComponent(tenant.tenant_id));
    const { access_token: inside } = await requestJson<TokenAnswer>(enter.method, path);
    keepToken(inside, { tenant: tenant.tenant_key });
  };
  useEffect(() => {
    if (list === undefined || enter === undefined) return;
    requestJson<{ readonly tenants: readonly Tenant[] }>(list.method, list.path).then(
      async ({ tenants: known }) => {
        setTenants(known);
        const [only, ...others] = known;
        const current = known.find(({ is_current: isCurrent }) => isCurrent);
        // Whoever has signed out meanwhile stays so.
        if (heldToken() !== token) return;
        if (current !== undefined) keepToken(token, { tenant: current.tenant_key });
        else if (only !== undefined && others.length === 0) await change(only);
      },
      // Whoever's session has ended signs in again; other faults pass.
      (error: unknown) => {
        if (error instanceof RequestError && error.status === 401) keepToken(null);
      },
    );
  }, [token]);
  if (tenants.length === 0) return null;
  const current = tenants.find(({ is_current: isCurrent }) => isCurrent);
  return (
    <label class="row">
      <span class="small quiet">Tenant</span>
      <select
        id="tenant"
        aria-label="Tenant"
        value={current?.tenant_id ?? ""}
        onChange={(event) => {
          const { value } = event.currentTarget;
          void change(tenants.find(({ tenant_id: id }) => id === value));
        }}
      >
        <option value="">Choose a tenant</option>
        {tenants.map(({ tenant_id: id, tenant_key: name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
