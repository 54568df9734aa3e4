// Changes of the members of documents: what they are called, what they may be, what they are by default.
import { isMap } from "../../../generator/load/shape.js";
import type { Draw } from "../registries/draw.js";
import { mapIn, valueIn, withValue, type Json } from "./base.js";

/** Makes another registry of one; undefined where it can't. */
export type Change = (registry: Json, draw: Draw) => Json | undefined;

/** Where a document's fields are declared. */
export function fieldsAt(registry: Json, document: string): readonly string[] {
  const type = valueIn(registry, ["documents", document, "type"]);
  return typeof type === "string" ? ["types", type] : ["documents", document, "type"];
}

export function fieldsOf(registry: Json, document: string): Json {
  return mapIn(registry, ...fieldsAt(registry, document));
}

interface Chosen {
  readonly document: string;
  readonly fields: Json;
  readonly name: string;
  readonly type: unknown;
  /** The path of the field. */
  readonly at: readonly string[];
}

/** A field of some document that is wanted. */
function chosen(
  registry: Json,
  draw: Draw,
  isWanted: (type: unknown, name: string) => boolean,
): Chosen | undefined {
  const all = Object.keys(mapIn(registry, "documents")).flatMap((document) => {
    const fields = fieldsOf(registry, document);
    return Object.entries(fields)
      .filter(([name, type]) => isWanted(type, name))
      .map(([name, type]): Chosen => {
        const at = [...fieldsAt(registry, document), name];
        return { document, fields, name, type, at };
      });
  });
  return all.length === 0 ? undefined : draw.pick(all);
}

/** A change of a field that is wanted; `by` has undefined where there is none. */
function ofField(
  isWanted: (type: unknown, name: string) => boolean,
  by: (registry: Json, field: Chosen, draw: Draw) => Json | undefined,
): Change {
  return (registry, draw) => {
    const field = chosen(registry, draw, isWanted);
    return field === undefined ? undefined : by(registry, field, draw);
  };
}

const isText = (type: unknown): type is string => typeof type === "string";
const isSchemaOf =
  (...kinds: readonly string[]) =>
  (type: unknown): type is Json =>
    isMap(type) && kinds.includes(String(type["type"]));
const isChoice = (type: unknown): type is readonly unknown[] =>
  Array.isArray(type) || (isMap(type) && Array.isArray(type["enum"]));
const valuesOf = (type: unknown): readonly unknown[] =>
  Array.isArray(type) ? type : isMap(type) && Array.isArray(type["enum"]) ? type["enum"] : [];
const plainOf = (value: unknown): unknown => (isMap(value) ? value["value"] : value);

/** A schema that says what a type of any notation does, with more. */
function schemaOf(type: unknown, more: Json): Json {
  if (isMap(type)) return { ...type, ...more };
  if (Array.isArray(type)) return { type: "string", enum: type, ...more };
  const [, plain = "string", isNullable] = /^([\w-]+)(\?)?$/.exec(String(type)) ?? [];
  const format = plain === "uuid" || plain === "date-time" ? { format: plain } : {};
  const kind = plain === "uuid" || plain === "date-time" ? "string" : plain;
  return { type: isNullable === undefined ? kind : [kind, "null"], ...format, ...more };
}

/** Everything that names a field of a document beside its type, renamed or left out. */
function named(registry: Json, document: string, from: string, to: string | undefined): Json {
  const told = (value: unknown): unknown => {
    if (value === from) return to;
    if (Array.isArray(value)) {
      const left = value.map(told).filter((one) => one !== undefined);
      return left.length === 0 && value.length > 0 ? undefined : left;
    }
    if (!isMap(value)) return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, one]): readonly (readonly [string, unknown])[] => {
        const now = told(one);
        const name = key === from ? to : key;
        return now === undefined || name === undefined ? [] : [[name, now]];
      }),
    );
  };
  const { type, was, ...rest } = mapIn(registry, "documents", document);
  const whole = told(rest) as Json;
  const searches = Object.entries(mapIn(registry, "search")).flatMap(([name, one]) => {
    if (valueIn(one, ["of"]) !== document) return [[name, one] as const];
    const now = told(one) as Json;
    // Without a text nothing is searched.
    return now["text"] === undefined ? [] : [[name, now] as const];
  });
  const events = Object.entries(mapIn(registry, "realtime", "events")).map(
    ([name, one]): readonly [string, unknown] =>
      isMap(one) && one["to"] === `{${from}}` ? [name, { ...one, to: `{${to}}` }] : [name, one],
  );
  const isHeard = events.length > 0;
  const named = withValue(registry, ["documents", document], {
    type,
    ...(was === undefined ? {} : { was }),
    ...whole,
  });
  const found = withValue(
    named,
    ["search"],
    searches.length === 0 ? undefined : Object.fromEntries(searches),
  );
  return isHeard ? withValue(found, ["realtime", "events"], Object.fromEntries(events)) : found;
}

/** Whether a signal goes to whom a field names. */
function isTarget(registry: Json, name: string): boolean {
  return Object.values(mapIn(registry, "realtime", "events")).some(
    (one) => isMap(one) && one["to"] === `{${name}}`,
  );
}

const free = (fields: Json, draw: Draw): string =>
  draw.pick(
    ["extra", "other", "rank", "label", "shade"].filter((name) => !Object.hasOwn(fields, name)),
  );

function renamed(registry: Json, { document, fields, name, at }: Chosen, by: unknown, to: string) {
  const entries = Object.entries(fields).map(([key, one]) =>
    key === name ? ([to, by] as const) : ([key, one] as const),
  );
  const typed = withValue(registry, at.slice(0, -1), Object.fromEntries(entries));
  return named(typed, document, name, to);
}

/** A document's type and its defaults with another default, or none. */
function defaulting(registry: Json, document: string, name: string, value: unknown): Json {
  const defaults = withValue(mapIn(registry, "documents", document, "defaults"), [name], value);
  const isNone = Object.keys(defaults).length === 0;
  return withValue(registry, ["documents", document, "defaults"], isNone ? undefined : defaults);
}

const added: readonly (readonly [type: unknown, value: unknown])[] = [
  ["string?", undefined],
  ["string", "none"],
  ["integer", 3],
  [["red", "green"], "red"],
  ["date-time?", undefined],
  ["string[]", []],
  ["Addr?", undefined],
  // Without a default, which is refused: stored documents have none.
  ["number", undefined],
];

export const memberChanges: Readonly<Record<string, Change>> = {
  "member added": (registry, draw) => {
    const [document = ""] = draw.some(Object.keys(mapIn(registry, "documents")), 1, 1);
    const [type, value] = draw.pick(added);
    const name = free(fieldsOf(registry, document), draw);
    const typed = withValue(registry, [...fieldsAt(registry, document), name], type);
    return value === undefined ? typed : defaulting(typed, document, name, value);
  },
  "member dropped": ofField(
    () => true,
    (registry, { document, name, at }) =>
      isTarget(registry, name)
        ? undefined
        : named(withValue(registry, at, undefined), document, name, undefined),
  ),
  "member renamed": ofField(
    (type) => !isMap(type) || type["ref"] === undefined,
    (registry, field, draw) =>
      renamed(registry, field, schemaOf(field.type, { was: field.name }), free(field.fields, draw)),
  ),
  "member called otherwise": ofField(
    () => true,
    (registry, field, draw) => renamed(registry, field, field.type, free(field.fields, draw)),
  ),
  "member nullable": ofField(
    (type) => isText(type) && !type.includes("[]"),
    (registry, { type, at }) => {
      const text = String(type);
      return withValue(registry, at, text.endsWith("?") ? text.slice(0, -1) : `${text}?`);
    },
  ),
  "text bounds": ofField(isSchemaOf("string"), (registry, { type, at }, draw) =>
    withValue(
      registry,
      at,
      draw.pick<Json>([
        { ...(type as Json), maxLength: 20 },
        { ...(type as Json), maxLength: 200 },
        { ...(type as Json), minLength: 2 },
        { ...(type as Json), pattern: "^[^x]*$" },
        { type: "string" },
      ]),
    ),
  ),
  "number bounds": ofField(isSchemaOf("integer", "number"), (registry, { type, at }, draw) =>
    withValue(
      registry,
      at,
      draw.pick<Json>([
        { ...(type as Json), maximum: 100 },
        { ...(type as Json), maximum: 100_000 },
        { ...(type as Json), minimum: -5 },
        { ...(type as Json), multipleOf: 2 },
        { type: "number" },
        { type: "integer" },
      ]),
    ),
  ),
  "value added": ofField(isChoice, (registry, { type, at }) =>
    withValue(registry, at, [...valuesOf(type), "top"]),
  ),
  "value dropped": ofField(isChoice, (registry, { type, at, document, name }) => {
    const kept = valuesOf(type).slice(0, -1);
    const standing = mapIn(registry, "documents", document, "defaults")[name];
    const isKept = standing === undefined || kept.map(plainOf).includes(standing);
    return kept.length === 0 || !isKept ? undefined : withValue(registry, at, kept);
  }),
  "value renamed": ofField(isChoice, (registry, { type, at }) => {
    const last = plainOf(valuesOf(type).at(-1));
    const kept = valuesOf(type).slice(0, -1);
    return withValue(registry, at, [...kept, { value: "renamed", was: last }]);
  }),
  "type of member": ofField(
    (type, name) => name === "note" || name === "size" || name === "country" || type === "string",
    (registry, { at }, draw) =>
      withValue(
        registry,
        at,
        draw.pick(["integer?", "string?", "boolean?", "number?", "string[]"]),
      ),
  ),
  "member converted": ofField(
    (type) => isSchemaOf("integer")(type) || type === "string?",
    (registry, field) => {
      const isNumber = isMap(field.type);
      const from = `registry/handlers.ts#${isNumber ? "toText" : "toNumber"}`;
      return renamed(
        registry,
        field,
        { type: isNumber ? "string" : "number", was: field.name, from },
        `${field.name}_of`,
      );
    },
  ),
  "default changed": ofField(
    (type) => isChoice(type) || type === "string" || type === "string?",
    (registry, { document, name, type }, draw) => {
      const values = isChoice(type) ? valuesOf(type).map(plainOf) : ["none", "some"];
      return defaulting(registry, document, name, draw.pick([...values, undefined]));
    },
  ),
  "member within": (registry, draw) => {
    const at = ["types", "Addr"];
    if (valueIn(registry, at) === undefined) return undefined;
    return draw.pick([
      withValue(registry, [...at, "floor"], "integer?"),
      withValue(registry, [...at, "city"], "string"),
      withValue(registry, [...at, "zip"], undefined),
      withValue(registry, [...at, "street"], { type: "string", maxLength: 5 }),
      withValue(registry, [...at, "zip"], "string"),
    ]);
  },
  reference: ofField(
    (type) => (isMap(type) && type["ref"] !== undefined) || type === "uuid?",
    (registry, { type, at }, draw) =>
      withValue(
        registry,
        at,
        isMap(type)
          ? draw.pick<unknown>([
              "uuid?",
              { ...type, on_delete: "cascade" },
              { ...type, on_delete: "set_null" },
              { ref: "items?" },
            ])
          : { ref: "places?" },
      ),
  ),
};
