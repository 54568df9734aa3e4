// First mistakes in JSON Schemas: words of OpenAPI 3.0, Zod, Joi, Mongoose and Prisma, and rules that contradict each other.
import { mistake, type Mistake } from "./mistake.js";

const schema = (given: string): string => `types: {Task: {it: ${given}}}`;

const contradiction = (name: string, given: string, says: string): Mistake =>
  mistake(name, schema(given), { code: "OPW101", says, hint: "" });

export const inSchemas: readonly Mistake[] = [
  mistake("max of a text", schema("{type: string, «max»: 80}"), {
    code: "OPW023",
    says: '"max"',
    hint: "did you mean maxLength?",
  }),
  mistake("max of a number", schema("{type: integer, «max»: 80}"), {
    code: "OPW023",
    says: '"max"',
    hint: "did you mean maximum?",
  }),
  mistake("min of a list", schema("{type: array, items: {type: string}, «min»: 1}"), {
    code: "OPW023",
    says: '"min"',
    hint: "did you mean minItems?",
  }),
  mistake("length", schema("{type: string, «length»: 13}"), {
    code: "OPW023",
    says: '"length"',
    hint: "minLength: 13, maxLength: 13",
  }),
  mistake("regex", schema("{type: string, «regex»: '^a'}"), {
    code: "OPW023",
    says: '"regex"',
    hint: "did you mean pattern?",
  }),
  mistake("required of a field", schema("{type: string, required: «true»}"), {
    code: "OPW024",
    says: "required",
    hint: "Every field is required",
  }),
  mistake("optional", schema("{type: string, «optional»: true}"), {
    code: "OPW023",
    says: '"optional"',
    hint: 'type: [string, "null"]',
  }),
  mistake("nullable", schema("{type: string, «nullable»: true}"), {
    code: "OPW023",
    says: '"nullable"',
    hint: 'type: [string, "null"]',
  }),
  mistake(
    "unique of a field",
    "documents: {users: {type: {mail: {type: string, «unique»: true}}, guard: member}}",
    { code: "OPW023", says: '"unique"', hint: "unique: [[mail]]" },
  ),
  mistake(
    "an index of a field",
    "documents: {users: {type: {mail: {type: string, «index»: true}}, guard: member}}",
    { code: "OPW023", says: '"index"', hint: "indexes: [[mail]]" },
  ),
  mistake("a key that is primary", schema("{type: string, «primaryKey»: true}"), {
    code: "OPW023",
    says: '"primaryKey"',
    hint: "`id`",
  }),
  mistake("readOnly", schema("{type: string, «readOnly»: true}"), {
    code: "OPW023",
    says: "readOnly",
    hint: "create",
  }),
  mistake("a schema of the type date", schema("{type: «date»}"), {
    code: "OPW024",
    says: '"date"',
    hint: "{type: string, format: date}",
  }),
  mistake("a schema of the type text", schema("{type: «text», maxLength: 80}"), {
    code: "OPW024",
    says: '"text"',
    hint: "did you mean string?",
  }),
  mistake("the type enum with values", schema("{type: «enum», values: [open, done]}"), {
    code: "OPW024",
    says: '"enum"',
    hint: "[open, done]",
  }),
  mistake(
    "a type of the registry in a schema",
    "types: {Tag: {name: string}, Task: {it: {type: «Tag»}}}",
    {
      code: "OPW024",
      says: '"Tag"',
      hint: "{$ref: Tag}",
    },
  ),
  mistake("items by a shorthand", schema("{type: array, items: «string»}"), {
    code: "OPW024",
    says: '"string"',
    hint: "{type: string}",
  }),
  mistake("of for items", schema("{type: array, «of»: string}"), {
    code: "OPW023",
    says: '"of"',
    hint: "did you mean items?",
  }),
  mistake("properties by a shorthand", schema("{type: object, properties: {street: «string»}}"), {
    code: "OPW024",
    says: '"string"',
    hint: "{type: string}",
  }),
  mistake("values with commas", schema('{type: string, enum: «"open, done"»}'), {
    code: "OPW024",
    says: "enum",
    hint: "[open, done]",
  }),
  mistake("a format that there is not", schema("{type: string, format: «phone»}"), {
    code: "OPW024",
    says: '"phone"',
    hint: "pattern",
  }),
  mistake(
    "a reference of OpenAPI",
    "types: {Tag: {name: string}, Task: {it: {$ref: «'#/components/schemas/Tag'»}}}",
    {
      code: "OPW021",
      says: "points to nothing",
      hint: "did you mean #/types/Tag?",
    },
  ),
  mistake("a pattern between slashes", schema('{type: string, pattern: «"/^[a-z]+$/"»}'), {
    code: "OPW024",
    says: "slashes",
    hint: "did you mean ^[a-z]+$?",
  }),
  mistake(
    "a default that no value is",
    "documents: {tasks: {type: {state: [open, done]}, defaults: {state: «opened»}, guard: member}}",
    { code: "OPW031", says: "opened", hint: "did you mean open?" },
  ),
  mistake(
    "a default of another type",
    'documents: {tasks: {type: {count: integer}, defaults: {count: «"0"»}, guard: member}}',
    { code: "OPW031", says: "must be integer", hint: "without quotes" },
  ),
  mistake(
    "a default in the schema of another type",
    "documents: {tasks: {type: {title: {type: string, default: «5»}}, guard: member}}",
    { code: "OPW031", says: "must be string", hint: '"5"' },
  ),
  contradiction("lengths", "{type: string, minLength: 5, maxLength: «2»}", "minLength 5"),
  contradiction("bounds", "{type: integer, minimum: 10, maximum: «1»}", "minimum 10"),
  contradiction(
    "bounds that exclude each other",
    "{type: number, exclusiveMinimum: 1, exclusiveMaximum: «1»}",
    "exclusiveMinimum 1",
  ),
  contradiction(
    "counts",
    "{type: array, items: {type: string}, minItems: 3, maxItems: «1»}",
    "minItems 3",
  ),
  contradiction(
    "a constant outside of its values",
    "{enum: [open, done], const: «closed»}",
    "closed",
  ),
  contradiction("values of another type", '{type: integer, enum: «["1", "2"]»}', "integer"),
  contradiction(
    "a pattern and a length",
    '{type: string, pattern: "^[0-9]{13}$", maxLength: «12»}',
    "13",
  ),
  contradiction("a format and a length", "{type: string, format: uuid, maxLength: «20»}", "36"),
  mistake("a rule for texts on a number", schema("{type: integer, «maxLength»: 5}"), {
    code: "OPW102",
    says: "maxLength",
    hint: "did you mean maximum?",
  }),
  mistake("a rule for numbers on a text", schema("{type: string, «minimum»: 5}"), {
    code: "OPW102",
    says: "minimum",
    hint: "did you mean minLength?",
  }),
];
