// A form for a command, made from the schema of what it takes.
import { useState } from "preact/hooks";
import type { JSX } from "preact";
import { resolveReference, type OpenApi, type Schema } from "../openapi/document.js";
import { exampleOf } from "../openapi/example.js";
import { boundTexts, typeText } from "../openapi/type-text.js";
import { Field } from "../parts/field.js";
import type { CommandType } from "./asyncapi.js";

interface CommandFormProps {
  readonly document: OpenApi;
  readonly commands: readonly CommandType[];
  readonly isConnected: boolean;
  readonly send: (name: string, payload: unknown) => void;
}

/** The commands to choose from, and the members of the chosen one. */
export function CommandForm({
  document,
  commands,
  isConnected,
  send,
}: CommandFormProps): JSX.Element {
  const [name, setName] = useState(commands[0]?.name ?? "");
  const command = commands.find((one) => one.name === name);
  return (
    <section class="stack" aria-labelledby="commands">
      <h2 id="commands">Send a command</h2>
      <Field label="Command" hint={command?.summary}>
        <select id="command" value={name} onChange={(event) => setName(event.currentTarget.value)}>
          {commands.map((one) => (
            <option key={one.name} value={one.name}>
              {one.name}
            </option>
          ))}
        </select>
      </Field>
      {command !== undefined && (
        <PayloadForm
          key={name}
          document={document}
          schema={resolveReference<Schema>(document, command.payload)}
          isConnected={isConnected}
          send={(payload) => send(name, payload)}
        />
      )}
    </section>
  );
}

interface PayloadFormProps {
  readonly document: OpenApi;
  readonly schema: Schema;
  readonly isConnected: boolean;
  readonly send: (payload: unknown) => void;
}

/** A control for each member. What is no text is written as JSON. */
function PayloadForm({ document, schema, isConnected, send }: PayloadFormProps): JSX.Element {
  const members = Object.entries(schema.properties ?? {});
  const required = schema.required ?? [];
  const [values, setValues] = useState<Readonly<Record<string, string>>>(() => {
    const example = exampleOf(document, schema) as Readonly<Record<string, unknown>> | null;
    return Object.fromEntries(
      Object.entries(example ?? {}).map(([name, value]) => [name, textOf(value)]),
    );
  });
  const [error, setError] = useState("");
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    try {
      const given = members.flatMap(([name, member]) => {
        const text = values[name] ?? "";
        return text === "" && !required.includes(name)
          ? []
          : [[name, valueOf(document, member, text)]];
      });
      setError("");
      send(Object.fromEntries(given));
    } catch (fault) {
      setError(fault instanceof Error ? fault.message : String(fault));
    }
  };
  return (
    <form class="stack" onSubmit={submit}>
      {members.map(([name, member]) => (
        <Field
          key={name}
          label={name}
          hint={[
            typeText(document, member),
            ...(typeof member === "object"
              ? boundTexts(resolveReference<Schema>(document, member))
              : []),
          ].join(", ")}
        >
          <input
            id={`payload-${name}`}
            required={required.includes(name)}
            value={values[name] ?? ""}
            onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
          />
        </Field>
      ))}
      {error !== "" && (
        <p class="message bad" role="alert">
          {error}
        </p>
      )}
      <div class="row">
        <button id="send" class="primary" type="submit" disabled={!isConnected}>
          Send
        </button>
        {!isConnected && <span class="small quiet">Connect first.</span>}
      </div>
    </form>
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A text as it is; of any other type, JSON. */
function valueOf(document: OpenApi, member: Schema | boolean, text: string): unknown {
  const type =
    typeof member === "object" ? resolveReference<Schema>(document, member).type : undefined;
  return type === "string" || type === undefined ? text : JSON.parse(text);
}
