// oasdiff's rules about schemas that it calls errors, by the keyword that changes: the values before and after, written anew.
// Facts of its list of rules (oasdiff/oasdiff, checker/rules.go); the cases are our own.

/** Where a schema stands, as rules name it: the whole of a body, a member of it, or a parameter. */
export type Place = "body" | "property" | "parameter";
export type Direction = "request" | "response";

export interface SchemaRule {
  readonly direction: Direction;
  /** Rule ids are `<direction>-<place>-<name>`. */
  readonly name: string;
  readonly places: readonly Place[];
  /** The schema before and after, as YAML. */
  readonly change: readonly [before: string, after: string];
}

const everywhere: readonly Place[] = ["body", "property", "parameter"];
const inBodies: readonly Place[] = ["body", "property"];

function requests(
  places: readonly Place[],
  changes: Readonly<Record<string, readonly [string, string]>>,
): readonly SchemaRule[] {
  return Object.entries(changes).map(([name, change]) => ({
    direction: "request",
    name,
    places,
    change,
  }));
}

function responses(
  changes: Readonly<Record<string, readonly [string, string]>>,
  places = inBodies,
): readonly SchemaRule[] {
  return Object.entries(changes).map(([name, change]) => ({
    direction: "response",
    name,
    places,
    change,
  }));
}

const object = (more: string): string => `{type: object, properties: {a: {type: string}}${more}}`;
const list = (more = ""): string => `{type: array, items: {type: string}${more}}`;

/** Rules of schemas whose keywords registries have. */
export const schemaRules: readonly SchemaRule[] = [
  ...requests(everywhere, {
    "became-enum": ["{type: string}", "{type: string, enum: [a, b]}"],
    "enum-value-removed": ["{type: string, enum: [a, b]}", "{type: string, enum: [a]}"],
    "max-length-set": ["{type: string}", "{type: string, maxLength: 9}"],
    "max-length-decreased": ["{type: string, maxLength: 9}", "{type: string, maxLength: 8}"],
    "min-length-increased": ["{type: string, minLength: 1}", "{type: string, minLength: 2}"],
    "max-set": ["{type: number}", "{type: number, maximum: 9}"],
    "max-decreased": ["{type: number, maximum: 9}", "{type: number, maximum: 8}"],
    "exclusive-max-set": ["{type: number}", "{type: number, exclusiveMaximum: 9}"],
    "exclusive-max-decreased": [
      "{type: number, exclusiveMaximum: 9}",
      "{type: number, exclusiveMaximum: 8}",
    ],
    "min-set": ["{type: number}", "{type: number, minimum: 1}"],
    "min-increased": ["{type: number, minimum: 1}", "{type: number, minimum: 2}"],
    "exclusive-min-set": ["{type: number}", "{type: number, exclusiveMinimum: 1}"],
    "exclusive-min-increased": [
      "{type: number, exclusiveMinimum: 1}",
      "{type: number, exclusiveMinimum: 2}",
    ],
    "type-changed": ["{type: string}", "{type: integer}"],
  }),
  ...requests(["parameter"], {
    "became-not-nullable": ['{type: [string, "null"]}', "{type: string}"],
  }),
  ...requests(["property", "parameter"], {
    "pattern-added": ["{type: string}", "{type: string, pattern: ^a}"],
  }),
  ...requests(["body"], {
    "wrapped-in-one-of": [
      "{type: string}",
      "{oneOf: [{type: string, maxLength: 3}, {type: string, pattern: ^a}]}",
    ],
  }),
  ...requests(inBodies, {
    "become-not-nullable": ['{type: [string, "null"]}', "{type: string}"],
    "list-of-types-narrowed": ["{type: [string, integer]}", "{type: [string]}"],
    "max-items-set": [list(), list(", maxItems: 3")],
    "max-items-decreased": [list(", maxItems: 3"), list(", maxItems: 2")],
    "min-items-set": [list(), list(", minItems: 1")],
    "min-items-increased": [list(", minItems: 1"), list(", minItems: 2")],
    "unique-items-set": [list(), list(", uniqueItems: true")],
    "multiple-of-set": ["{type: number}", "{type: number, multipleOf: 2}"],
    "multiple-of-changed": ["{type: number, multipleOf: 2}", "{type: number, multipleOf: 3}"],
    "const-added": ["{type: string}", "{type: string, const: a}"],
    "const-changed": ["{type: string, const: a}", "{type: string, const: b}"],
    "all-of-added": [
      "{allOf: [{type: string}]}",
      "{allOf: [{type: string}, {type: string, maxLength: 3}]}",
    ],
    "any-of-removed": ["{anyOf: [{type: string}, {type: integer}]}", "{anyOf: [{type: string}]}"],
    "one-of-removed": ["{oneOf: [{type: string}, {type: integer}]}", "{oneOf: [{type: string}]}"],
    "prefix-items-removed": [
      "{type: array, prefixItems: [{type: string}, {type: integer}], items: false}",
      "{type: array, prefixItems: [{type: string}], items: false}",
    ],
    "max-properties-set": [object(""), object(", maxProperties: 3")],
    "max-properties-decreased": [object(", maxProperties: 3"), object(", maxProperties: 2")],
    "min-properties-increased": [object(", minProperties: 1"), object(", minProperties: 2")],
    "property-names-added": [object(""), object(", propertyNames: {maxLength: 3}")],
    "pattern-property-added": [object(""), object(", patternProperties: {^x: {type: string}}")],
    "if-added": ["{type: string}", "{type: string, if: {minLength: 2}, then: {maxLength: 3}}"],
    "then-added": [
      "{type: string, if: {minLength: 2}, else: {maxLength: 0}}",
      "{type: string, if: {minLength: 2}, then: {maxLength: 3}, else: {maxLength: 0}}",
    ],
    "else-added": [
      "{type: string, if: {minLength: 2}, then: {maxLength: 3}}",
      "{type: string, if: {minLength: 2}, then: {maxLength: 3}, else: {maxLength: 0}}",
    ],
    "dependent-required-added": [object(""), object(", dependentRequired: {a: [b]}")],
    "dependent-required-changed": [
      object(", dependentRequired: {a: [b]}"),
      object(", dependentRequired: {a: [c]}"),
    ],
  }),
  ...responses(
    { "wrapped-in-one-of": ["{type: string}", "{oneOf: [{type: string}, {type: integer}]}"] },
    ["body"],
  ),
  ...responses({
    "became-nullable": ["{type: string}", '{type: [string, "null"]}'],
    "type-changed": ["{type: string}", "{type: integer}"],
    "type-generalized": ["{type: integer}", "{type: number}"],
    "list-of-types-widened": ["{type: [string]}", "{type: [string, integer]}"],
    "any-of-added": ["{anyOf: [{type: string}]}", "{anyOf: [{type: string}, {type: integer}]}"],
    "one-of-added": ["{oneOf: [{type: string}]}", "{oneOf: [{type: string}, {type: integer}]}"],
    "const-removed": ["{type: string, const: a}", "{type: string}"],
    "const-changed": ["{type: string, const: a}", "{type: string, const: b}"],
    "all-of-removed": [
      "{allOf: [{type: string}, {type: string, enum: [a]}]}",
      "{allOf: [{type: string}]}",
    ],
    "prefix-items-added": [
      "{type: array, prefixItems: [{type: string}], items: false}",
      "{type: array, prefixItems: [{type: string}, {type: integer}], items: false}",
    ],
    "unique-items-unset": [list(", uniqueItems: true"), list()],
    "property-names-removed": [object(", propertyNames: {maxLength: 3}"), object("")],
    "pattern-property-removed": [object(", patternProperties: {^x: {type: string}}"), object("")],
    "if-removed": ["{type: string, if: {minLength: 2}, then: {maxLength: 3}}", "{type: string}"],
    "then-removed": [
      "{type: string, if: {minLength: 2}, then: {maxLength: 3}, else: {maxLength: 0}}",
      "{type: string, if: {minLength: 2}, else: {maxLength: 0}}",
    ],
    "else-removed": [
      "{type: string, if: {minLength: 2}, then: {maxLength: 3}, else: {maxLength: 0}}",
      "{type: string, if: {minLength: 2}, then: {maxLength: 3}}",
    ],
    "dependent-required-removed": [object(", dependentRequired: {a: [b]}"), object("")],
    "dependent-required-changed": [
      object(", dependentRequired: {a: [b]}"),
      object(", dependentRequired: {a: [c]}"),
    ],
  }),
];

/** Answers whose bounds grow: a reader gets a value of the same type, within the bound or not. */
export const widerAnswers: readonly SchemaRule[] = [
  ...responses({ "pattern-removed": ["{type: string, pattern: ^a}", "{type: string}"] }, [
    "property",
  ]),
  ...responses({
    "max-increased": ["{type: number, maximum: 8}", "{type: number, maximum: 9}"],
    "exclusive-max-increased": [
      "{type: number, exclusiveMaximum: 8}",
      "{type: number, exclusiveMaximum: 9}",
    ],
    "min-decreased": ["{type: number, minimum: 2}", "{type: number, minimum: 1}"],
    "exclusive-min-decreased": [
      "{type: number, exclusiveMinimum: 2}",
      "{type: number, exclusiveMinimum: 1}",
    ],
    "max-length-increased": ["{type: string, maxLength: 8}", "{type: string, maxLength: 9}"],
    "max-length-unset": ["{type: string, maxLength: 8}", "{type: string}"],
    "min-length-decreased": ["{type: string, minLength: 2}", "{type: string, minLength: 1}"],
    "max-items-increased": [list(", maxItems: 2"), list(", maxItems: 3")],
    "min-items-decreased": [list(", minItems: 2"), list(", minItems: 1")],
    "min-items-unset": [list(", minItems: 2"), list()],
    "max-properties-increased": [object(", maxProperties: 2"), object(", maxProperties: 3")],
    "min-properties-decreased": [object(", minProperties: 2"), object(", minProperties: 1")],
    "multiple-of-unset": ["{type: number, multipleOf: 2}", "{type: number}"],
    "multiple-of-changed": ["{type: number, multipleOf: 2}", "{type: number, multipleOf: 3}"],
  }),
];

interface RefusedKeyword {
  readonly keyword: string;
  /** Names of its rules, for requests and for answers, in bodies and in members of them. */
  readonly rules: readonly (readonly [Direction, string])[];
  /** A schema with it, which `check` refuses, and the same without it. */
  readonly schemas: readonly [refused: string, accepted: string];
}

/** A keyword that requests have more of and answers less of. */
const grown = (request: string, response: string): RefusedKeyword["rules"] => [
  ["request", request],
  ["response", response],
];

/** Keywords that no registry may have, so that nothing of theirs can change. */
export const refusedKeywords: readonly RefusedKeyword[] = [
  {
    keyword: "contains",
    rules: grown("contains-added", "contains-removed"),
    schemas: [list(", contains: {type: string}"), list()],
  },
  {
    keyword: "minContains",
    rules: grown("min-contains-increased", "min-contains-decreased"),
    schemas: [list(", minContains: 2"), list()],
  },
  {
    keyword: "maxContains",
    rules: grown("max-contains-decreased", "max-contains-increased"),
    schemas: [list(", maxContains: 2"), list()],
  },
  {
    keyword: "dependentSchemas",
    rules: grown("dependent-schema-added", "dependent-schema-removed"),
    schemas: [object(", dependentSchemas: {a: {minProperties: 2}}"), object("")],
  },
  {
    keyword: "unevaluatedItems",
    rules: grown("unevaluated-items-added", "unevaluated-items-removed"),
    schemas: [list(", unevaluatedItems: false"), list()],
  },
  {
    keyword: "unevaluatedProperties",
    rules: grown("unevaluated-properties-added", "unevaluated-properties-removed"),
    schemas: [object(", unevaluatedProperties: false"), object("")],
  },
  {
    keyword: "contentSchema",
    rules: grown("content-schema-added", "content-schema-removed"),
    schemas: ["{type: string, contentSchema: {type: object}}", "{type: string}"],
  },
  {
    keyword: "contentMediaType",
    rules: grown("content-media-type-changed", "content-media-type-changed"),
    schemas: ["{type: string, contentMediaType: application/json}", "{type: string}"],
  },
  {
    keyword: "contentEncoding",
    rules: grown("content-encoding-changed", "content-encoding-changed"),
    schemas: ["{type: string, contentEncoding: base64}", "{type: string}"],
  },
];
