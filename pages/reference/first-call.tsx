// The home's first call: a command that answers when it is pasted, and how to say who one is.
import type { JSX } from "preact";
import { firstCall, type Call } from "../openapi/first-call.js";
import type { OpenApi } from "../openapi/document.js";
import { operationsOf, type Operation } from "../openapi/operations.js";
import { Code } from "../parts/code.js";
import { config } from "../shell/config.js";
import { hasSignIn } from "../shell/session.js";
import { curlText } from "./snippets.js";

/** What stands for what only the reader knows. */
const ownLogin = JSON.stringify({ login: "LOGIN", password: "PASSWORD" });
const noCall: Call = { parameters: {}, body: "", file: null };

/** A command that calls the service, and another that signs in, as far as it has them. */
export function FirstCall({ openapi }: { readonly openapi: OpenApi }): JSX.Element {
  const operations = operationsOf(openapi);
  const open = openOperation(operations.values());
  const enter = operations.get("tenants.switch_tenant");
  const login = operations.get("authn.password_login");
  return (
    <section class="stack tight" aria-labelledby="first">
      <h2 id="first">The first call</h2>
      {open === undefined ? (
        <Code label="The address of the service" text={location.origin} />
      ) : (
        <>
          <p>
            <a href={`#${open.key}`}>{open.summary}</a>
            {hasSignIn(openapi) && ", which needs no sign-in:"}
          </p>
          <Code label="A first call" text={curlText(open, firstCall(openapi, open), "")} />
        </>
      )}
      {login !== undefined && (
        <>
          <p>
            <a href={`#${login.key}`}>{login.summary}</a> with your login and password to get an
            access token:
          </p>
          <Code label="Sign in" text={curlText(login, { ...noCall, body: ownLogin }, "")} />
        </>
      )}
      {enter !== undefined && (
        <p>
          {"Most operations need a token for a tenant: "}
          <a href={`#${enter.key}`}>{enter.summary}</a>.
        </p>
      )}
      {hasSignIn(openapi) && (
        <p>
          {`Send the token as `}
          <code>{`${config.tokenHeader}: ${config.tokenScheme} TOKEN`}</code>. Once you sign in
          here, these pages send it with every call.
        </p>
      )}
    </section>
  );
}

/** An operation that anybody can call and that changes nothing: the simplest of them. */
function openOperation(operations: Iterable<Operation>): Operation | undefined {
  const open = [...operations].filter(
    ({ needsSignIn, namespace, parameters, takesIdempotencyKey }) =>
      !needsSignIn &&
      !takesIdempotencyKey &&
      namespace !== "authn" &&
      parameters.every(({ in: place }) => place !== "path"),
  );
  return open.find(({ method }) => method === "GET") ?? open.find(({ key }) => isReading(key));
}

function isReading(key: string): boolean {
  return /\.(?:list|list_cursor|search)$/.test(key);
}
