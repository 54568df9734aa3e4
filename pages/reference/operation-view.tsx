// One operation: what it takes, what it answers, what may go wrong, and the form to try it.
import type { JSX } from "preact";
import type { ClientCall } from "../openapi/catalog.js";
import type { Media, OpenApi } from "../openapi/document.js";
import { exampleOf } from "../openapi/example.js";
import type { Operation } from "../openapi/operations.js";
import { typeText } from "../openapi/type-text.js";
import { Code } from "../parts/code.js";
import { Method } from "../parts/method.js";
import { Tabs } from "../parts/tabs.js";
import { Members } from "../parts/members.js";
import { TryOut } from "./try-out.js";

interface OperationViewProps {
  readonly openapi: OpenApi;
  readonly operation: Operation;
  readonly client: ClientCall;
}

/** What the facts say already. */
const saysBudgetAlone = /^(?:Time budget: [\d.]+ s\.)?$/;

/** The page of one operation. */
export function OperationView({ openapi, operation, client }: OperationViewProps): JSX.Element {
  return (
    <article class="split" aria-labelledby="title">
      <div class="stack wide">
        <header class="stack tight">
          <p class="quiet">
            <code>{operation.key}</code>
          </p>
          <h1 id="title">{operation.summary}</h1>
          <p class="row">
            <Method name={operation.method} />
            <code>{operation.path}</code>
            <a class="small jump" href="#try" onClick={goToTry}>
              Try it
            </a>
            {operation.isDeprecated && <span class="badge warn">deprecated</span>}
          </p>
          <Facts operation={operation} />
          {!saysBudgetAlone.test(operation.description) && <p>{operation.description}</p>}
        </header>
        <Takes openapi={openapi} operation={operation} />
        <Answers openapi={openapi} operation={operation} />
        <Errors operation={operation} />
      </div>
      <div class="aside">
        <TryOut key={operation.key} openapi={openapi} operation={operation} client={client} />
      </div>
    </article>
  );
}

/** The address says which operation is shown, so it stays as it is. */
function goToTry(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById("try")?.scrollIntoView();
}

/** Who may call it, and within which bounds. */
function Facts({ operation }: { readonly operation: Operation }): JSX.Element {
  const { needsSignIn, permissions, deadlineSeconds, takesIdempotencyKey, errorCodes } = operation;
  return (
    <p class="row">
      <span class="badge">{needsSignIn ? "sign-in required" : "open to everybody"}</span>
      {errorCodes.includes("tenant_required") && <span class="badge">in a tenant</span>}
      {permissions.map((permission) => (
        <span key={permission} class="badge">
          needs <code>{permission}</code>
        </span>
      ))}
      {deadlineSeconds !== null && <span class="badge">{`within ${deadlineSeconds} s`}</span>}
      {takesIdempotencyKey && <span class="badge">takes an Idempotency-Key</span>}
      <a class="small" href={`/docs/operations#${operation.key}`}>
        Guards and limits
      </a>
    </p>
  );
}

function Takes({ openapi, operation }: Omit<OperationViewProps, "client">): JSX.Element {
  const { body } = operation;
  const parameters = operation.parameters.filter((one) => one.in !== "form");
  const [[type, media] = []] = [Object.entries(body?.content ?? {})[0] ?? []];
  return (
    <section class="stack" aria-labelledby="takes">
      <h2 id="takes">Input</h2>
      {parameters.length === 0 && media === undefined && <p class="quiet">No input.</p>}
      {parameters.length > 0 && (
        <ul class="members">
          {parameters.map(({ name, in: place, required, schema, description }) => (
            <li key={`${place} ${name}`}>
              <div class="row">
                <code>
                  <strong>{name}</strong>
                </code>
                <code class="quiet">{typeText(openapi, schema)}</code>
                <span class="badge">{place}</span>
                {required === true && <span class="badge strong">required</span>}
              </div>
              {description !== undefined && <p class="small quiet">{description}</p>}
            </li>
          ))}
        </ul>
      )}
      {media !== undefined && (
        <>
          <h3>
            Body <span class="badge">{type}</span>
          </h3>
          <Members openapi={openapi} schema={media.schema} />
        </>
      )}
    </section>
  );
}

function Answers({ openapi, operation }: Omit<OperationViewProps, "client">): JSX.Element {
  const successes = operation.responses.filter(({ status }) => status < "4");
  return (
    <section class="stack" aria-labelledby="answers">
      <h2 id="answers">Answer</h2>
      <Tabs
        label="Answers"
        tabs={successes.map(({ status, response }) => ({
          name: status,
          label: status,
          panel: () => {
            const [media] = Object.values(response.content ?? {});
            if (media?.schema === undefined) return <p class="quiet">{response.description}</p>;
            return (
              <>
                <p class="quiet">
                  <code>{typeText(openapi, media.schema)}</code>
                </p>
                <Members openapi={openapi} schema={media.schema} />
                <AnswerExample openapi={openapi} media={media} />
              </>
            );
          },
        }))}
      />
    </section>
  );
}

/** An answer as it looks, with values that the schema allows. */
function AnswerExample({
  openapi,
  media: { schema, example },
}: {
  readonly openapi: OpenApi;
  readonly media: Media;
}): JSX.Element | null {
  const value = example ?? exampleOf(openapi, schema, "whole");
  if (typeof value !== "object" || value === null) return null;
  return <Code label="An example of the answer" text={JSON.stringify(value, null, 2)} />;
}

/** What may go wrong, by status: the codes of this operation. */
function Errors({ operation }: { readonly operation: Operation }): JSX.Element {
  const failures = operation.responses.filter(({ status }) => status >= "4");
  return (
    <section class="stack" aria-labelledby="errors">
      <h2 id="errors">Errors</h2>
      <ul class="members">
        {failures.map(({ status, response }) => (
          <li key={status} class="row">
            <span class="badge bad">{status}</span>
            {operation.errorCodes
              .filter((code) => response["x-error-codes"]?.includes(code))
              .map((code) => (
                <code key={code} class="badge">
                  {code}
                </code>
              ))}
          </li>
        ))}
      </ul>
    </section>
  );
}
