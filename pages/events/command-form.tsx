// A form for a command, made from the schema of what it takes.
import { useState } from "preact/hooks";
import type { JSX } from "preact";
import { resolveReference, type OpenApi, type Schema } from "../openapi/document.js";
import { exampleOf } from "../openapi/example.js";
import { controlsOf, objectOf, valuesOf } from "../openapi/form-values.js";
import { Field } from "../parts/field.js";
import { SchemaForm } from "../parts/schema-form.js";
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

/** A form of the command's members, which begins with an example. */
function PayloadForm({ document, schema, isConnected, send }: PayloadFormProps): JSX.Element {
  const controls = controlsOf(document, schema);
  const [values, setValues] = useState(() =>
    valuesOf(controls, exampleOf(document, schema) as Readonly<Record<string, unknown>>),
  );
  return (
    <SchemaForm
      openapi={document}
      controls={controls}
      values={values}
      setValues={setValues}
      action="Send"
      isDisabled={!isConnected}
      beside={!isConnected && <span class="small quiet">Connect first.</span>}
      submit={() => send(objectOf(controls, values))}
    />
  );
}
