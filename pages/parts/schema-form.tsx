// A form made from a schema: a control for each member.
import { useState } from "preact/hooks";
import type { ComponentChildren, JSX } from "preact";
import type { OpenApi } from "../openapi/document.js";
import type { Control, FormValues } from "../openapi/form-values.js";
import { boundTexts, typeText } from "../openapi/type-text.js";
import { CalendarInput } from "./calendar-input.js";
import { errorOf, Fault } from "./fault.js";
import { Field } from "./field.js";

interface SchemaFormProps {
  readonly openapi: OpenApi;
  readonly controls: readonly Control[];
  readonly values: FormValues;
  readonly setValues: (values: FormValues) => void;
  /** What the button says. */
  readonly action: string;
  readonly isDisabled?: boolean;
  /** What stands beside the button. */
  readonly beside?: ComponentChildren;
  /** A control of its own for a member, such as a choice among other documents. */
  readonly controlFor?: (control: Control, props: ControlProps) => JSX.Element | null;
  /** Rejects with what is shown above the button. */
  readonly submit: () => Promise<void> | void;
}

export interface ControlProps {
  readonly id: string;
  readonly value: string;
  readonly required: boolean;
  readonly onValue: (value: string | File) => void;
}

/** The controls, a button, and what went wrong. */
export function SchemaForm({
  openapi,
  controls,
  values,
  setValues,
  action,
  isDisabled = false,
  beside,
  controlFor,
  submit,
}: SchemaFormProps): JSX.Element {
  const [error, setError] = useState<Error | null>(null);
  const [isSending, setIsSending] = useState(false);
  const send = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    setError(null);
    setIsSending(true);
    try {
      await submit();
    } catch (fault) {
      setError(errorOf(fault));
    } finally {
      setIsSending(false);
    }
  };
  return (
    <form class="stack" onSubmit={(event) => void send(event)}>
      {controls.map((control) => {
        const value = values[control.name] ?? "";
        const props: ControlProps = {
          id: `member-${control.name}`,
          value: typeof value === "string" ? value : "",
          required: control.isRequired && !control.isNullable,
          onValue: (next) => setValues({ ...values, [control.name]: next }),
        };
        return (
          <Field key={control.name} label={labelOf(control)} hint={hintOf(openapi, control)}>
            {controlFor?.(control, props) ?? <PlainControl control={control} {...props} />}
          </Field>
        );
      })}
      {error !== null && <Fault error={error} />}
      <div class="row acts">
        <button class="primary" type="submit" disabled={isDisabled || isSending}>
          {action}
        </button>
        {beside}
      </div>
    </form>
  );
}

/** Characters from which a text has room for more than a line. */
const longText = 300;

function PlainControl({
  control: { kind, choices, schema, isRequired, isNullable },
  id,
  value,
  required,
  onValue,
}: ControlProps & { readonly control: Control }): JSX.Element {
  if (kind === "choice" || kind === "boolean") {
    const options = kind === "boolean" ? ["true", "false"] : choices;
    return (
      <select id={id} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
        {(!isRequired || isNullable || value === "") && <option value="" />}
        {options.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    );
  }
  if (kind === "file")
    return (
      <input
        id={id}
        type="file"
        required={required}
        onChange={(event) => onValue(event.currentTarget.files?.[0] ?? "")}
      />
    );
  if (kind === "date" || kind === "moment")
    return <CalendarInput {...{ id, kind, value, required, onValue }} />;
  const most = Number(schema["maxLength"] ?? Infinity);
  // An input would take the line breaks out of a text.
  const mayHaveLines = kind === "text" && schema.format === undefined && most > longText;
  const isLong = kind === "json" || mayHaveLines || value.includes("\n");
  // A required text may be empty, unless the schema says otherwise.
  const isNeeded = required && (kind !== "text" || Number(schema["minLength"] ?? 0) > 0);
  const shared = { id, value, required: isNeeded };
  return isLong ? (
    <textarea
      {...shared}
      class={kind === "json" ? "code fitting" : "fitting"}
      rows={1}
      onInput={(event) => onValue(event.currentTarget.value)}
    />
  ) : (
    <input
      {...shared}
      inputMode={kind === "number" ? "decimal" : "text"}
      onInput={(event) => onValue(event.currentTarget.value)}
    />
  );
}

function labelOf({ name, isRequired, isNullable }: Control): ComponentChildren {
  if (!isRequired || isNullable) return name;
  return (
    <>
      {name} <span class="small quiet">required</span>
    </>
  );
}

/** What a control takes, where the control doesn't show it; undefined for nothing to say. */
function hintOf(openapi: OpenApi, { schema, kind, isNullable }: Control): string | undefined {
  const { description, format } = schema;
  const typed: Readonly<Partial<Record<Control["kind"], string>>> = {
    text: format === undefined ? "" : format === "uuid" ? "an id" : `of the form ${format}`,
    moment: "in your time zone",
    number: schema.type === "integer" ? "an integer" : "a number",
    json: `JSON: ${typeText(openapi, schema)}`,
  };
  const bounds = kind === "choice" ? [] : boundTexts(schema);
  const words = [typed[kind] ?? "", ...bounds, isNullable ? "may be empty" : ""];
  const said = words.filter((one) => one !== "").join(", ");
  if (description === undefined) return said === "" ? undefined : said;
  return said === "" ? description : `${said}. ${description}`;
}
