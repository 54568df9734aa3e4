// The form that sends a call, and what came back.
import { useState } from "preact/hooks";
import type { JSX } from "preact";
import type { ClientCall } from "../openapi/catalog.js";
import type { OpenApi, Parameter } from "../openapi/document.js";
import { typeText } from "../openapi/type-text.js";
import type { Operation } from "../openapi/operations.js";
import { Code } from "../parts/code.js";
import { Field } from "../parts/field.js";
import { Tabs } from "../parts/tabs.js";
import { askToSignIn, useHolderText, useToken } from "../shell/session.js";
import { firstCall, mediaTypeOf, type Call } from "../openapi/first-call.js";
import { send, type Outcome } from "./call.js";
import { clientText, curlText, fetchText } from "./snippets.js";

interface TryOutProps {
  readonly openapi: OpenApi;
  readonly operation: Operation;
  readonly client: ClientCall;
}

/** A form with a valid example, its snippets, and the answer. */
export function TryOut({ openapi, operation, client }: TryOutProps): JSX.Element {
  const token = useToken();
  const [call, setCall] = useState<Call>(() => firstCall(openapi, operation));
  const [outcome, setOutcome] = useState<Outcome | Error | null>(null);
  const [isSending, setIsSending] = useState(false);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    setIsSending(true);
    try {
      setOutcome(await send(operation, call));
    } catch (error) {
      setOutcome(error instanceof Error ? error : new Error(String(error)));
    } finally {
      setIsSending(false);
    }
  };
  const snippets = [
    {
      name: "curl",
      label: "As a curl command",
      write: (shown: string) => curlText(operation, call, shown),
    },
    {
      name: "fetch",
      label: "As a call of fetch",
      write: (shown: string) => fetchText(operation, call, shown),
    },
    {
      name: "client",
      label: "As a call of the client",
      write: (shown: string) => clientText(operation, call, client, shown),
    },
  ].filter(({ write }) => write("") !== null);
  return (
    <section class="stack" aria-labelledby="try">
      <h2 id="try">Try it</h2>
      <form class="stack" onSubmit={(event) => void submit(event)}>
        {operation.parameters.map((parameter) => (
          <ParameterField
            key={`${parameter.in} ${parameter.name}`}
            openapi={openapi}
            parameter={parameter}
            call={call}
            setCall={setCall}
          />
        ))}
        <BodyField operation={operation} call={call} setCall={setCall} />
        <div class="row">
          <button class="primary" type="submit" disabled={isSending}>
            {isSending ? "Sending" : "Send"}
          </button>
          <SentAs operation={operation} token={token} />
        </div>
      </form>
      <Answer outcome={outcome} />
      {operation.needsSignIn && token !== null && (
        <p class="small quiet">What you copy has your token where TOKEN stands.</p>
      )}
      <Tabs
        label="The same call elsewhere"
        tabs={snippets.map(({ name, label, write }) => ({
          name,
          label: name === "client" ? "Client" : name,
          // The page may be looked at by others, or be in a picture; what is copied works.
          panel: () => (
            <Code
              label={label}
              text={write("TOKEN") ?? ""}
              copied={write(token ?? "TOKEN") ?? ""}
            />
          ),
        }))}
      />
    </section>
  );
}

/** As whom a call is made, so that nobody changes a tenant's data by mistake. */
function SentAs({
  operation,
  token,
}: {
  readonly operation: Operation;
  readonly token: string | null;
}): JSX.Element {
  const holder = useHolderText();
  if (token === null && operation.needsSignIn)
    return (
      <button class="plain" type="button" onClick={askToSignIn}>
        Sign in first
      </button>
    );
  const text = token === null ? "as nobody: it needs no sign-in" : `as ${holder}`;
  return <span class="small quiet">{text}</span>;
}

interface EditProps {
  readonly call: Call;
  readonly setCall: (call: Call) => void;
}

function ParameterField({
  openapi,
  parameter,
  call,
  setCall,
}: EditProps & { readonly openapi: OpenApi; readonly parameter: Parameter }): JSX.Element {
  const { name, in: place, required, schema } = parameter;
  const key = `${place} ${name}`;
  const change = (value: string): void =>
    setCall({ ...call, parameters: { ...call.parameters, [key]: value } });
  return (
    <Field
      label={
        <>
          {name} <span class="badge">{place}</span>
        </>
      }
    >
      <input
        name={key}
        required={required === true}
        placeholder={typeText(openapi, schema)}
        value={call.parameters[key] ?? ""}
        onInput={(event) => change(event.currentTarget.value)}
      />
    </Field>
  );
}

function BodyField({
  operation,
  call,
  setCall,
}: EditProps & { readonly operation: Operation }): JSX.Element | null {
  const type = mediaTypeOf(operation);
  if (type === null) return null;
  if (type === "multipart/form-data")
    return (
      <Field label="File">
        <input
          type="file"
          required
          onChange={(event) => setCall({ ...call, file: event.currentTarget.files?.[0] ?? null })}
        />
      </Field>
    );
  return (
    <Field
      label={
        <>
          Body <span class="badge">{type}</span>
        </>
      }
    >
      <textarea
        id="body"
        class="code"
        spellcheck={false}
        rows={Math.min(16, call.body.split("\n").length + 1)}
        value={call.body}
        onInput={(event) => setCall({ ...call, body: event.currentTarget.value })}
      />
    </Field>
  );
}

/** The answer, announced to who doesn't see it. */
function Answer({ outcome }: { readonly outcome: Outcome | Error | null }): JSX.Element {
  return (
    <div id="answer" class="stack tight" role="status" aria-label="Answer">
      {outcome instanceof Error && <p class="message bad">{outcome.message}</p>}
      {outcome !== null && !(outcome instanceof Error) && (
        <>
          <div class="row">
            <span class={`badge ${outcome.status < 400 ? "good" : "bad"}`}>
              {`${outcome.status} ${outcome.statusText}`}
            </span>
            <span class="small quiet">{`${outcome.millis} ms`}</span>
            {outcome.download !== null && (
              <a href={outcome.download} download>
                Save the file
              </a>
            )}
          </div>
          {outcome.text !== "" && <Code label="Body of the answer" text={outcome.text} />}
          <details>
            <summary class="small">Headers</summary>
            <Code label="Headers of the answer" text={outcome.headers} />
          </details>
        </>
      )}
    </div>
  );
}
