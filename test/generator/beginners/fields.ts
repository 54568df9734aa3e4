// First mistakes in the types of fields: words of TypeScript, SQL, GraphQL, Prisma.
import { mistake, type Mistake } from "./mistake.js";

const field = (type: string): string => `types: {Task: {title: string, it: ${type}}}`;

const foreign = (type: string, hint: string, written = type): Mistake =>
  mistake(`the type ${type}`, field(`«${written}»`), {
    code: /^[A-Z]\w*$/.test(type) ? "OPW020" : "OPW026",
    says: type,
    hint,
  });

export const inFields: readonly Mistake[] = [
  foreign("text", "did you mean string?"),
  foreign("str", "did you mean string?"),
  foreign("int", "did you mean integer?"),
  foreign("Int", "did you mean integer?"),
  foreign("bigint", "did you mean integer?"),
  foreign("float", "did you mean number?"),
  foreign("decimal", "{decimal: 2}"),
  foreign("bool", "did you mean boolean?"),
  foreign("String", "did you mean string?"),
  foreign("DateTime", "did you mean date-time?"),
  foreign("timestamp", "did you mean date-time?"),
  foreign("localdate", "did you mean date?"),
  foreign("day", "did you mean date?"),
  foreign("email", "{type: string, format: email}"),
  foreign("url", "{type: string, format: uri}"),
  foreign("json", "{type: object}"),
  foreign("object", "types:"),
  foreign("array", '"string[]"'),
  foreign("any", "true"),
  foreign("file", "storage"),
  foreign("enum", "[open, done]"),
  foreign("varchar(80)", "{type: string, maxLength: 80}"),
  foreign("string | null", "string?", '"string | null"'),
  foreign("string!", "did you mean string?", '"string!"'),
  foreign("Array<string>", "string[]", '"Array<string>"'),
  foreign("[]string", "string[]", '"[]string"'),
  foreign("open | done", "[open, done]", '"open | done"'),
  mistake(
    "a document as a type",
    "documents: {boards: {type: {name: string}, guard: member}, tasks: {type: {board: «boards»}, guard: member}}",
    { code: "OPW026", says: "boards", hint: "{ref: boards}" },
  ),
  mistake(
    "a document as a type, in capitals",
    "documents: {boards: {type: {name: string}, guard: member}, tasks: {type: {board: «Board»}, guard: member}}",
    { code: "OPW020", says: "Board", hint: "{ref: boards}" },
  ),
  mistake(
    "a reference to a document that is misspelt",
    "documents: {boards: {type: {name: string}, guard: member}, tasks: {type: {board: {ref: «board»}}, guard: member}}",
    { code: "OPW029", says: "no document is called board", hint: "did you mean boards?" },
  ),
  mistake(
    "camel case in a reference",
    "documents: {boards: {type: {name: string}, guard: member}, tasks: {type: {board: {ref: boards, «onDelete»: cascade}}, guard: member}}",
    { code: "OPW010", says: "onDelete", hint: "did you mean on_delete?" },
  ),
  mistake("a type in brackets", field("«[string]»"), {
    code: "OPW017",
    says: 'the one value "string"',
    hint: "string[]",
  }),
  mistake(
    "a type in brackets that has a default",
    "documents: {tasks: {type: {title: string, tags: «[string]»}, defaults: {tags: []}, guard: member}}",
    { code: "OPW017", says: 'the one value "string"', hint: "string[]" },
  ),
  mistake("a list of objects", field("«[{name: string, count: integer}]»"), {
    code: "OPW013",
    says: "objects",
    hint: '"Item[]"',
  }),
  mistake("an object within a field", field("«{street: string, city: string}»"), {
    code: "OPW011",
    says: "street, city",
    hint: "types: {It: {street: string, city: string}}",
  }),
  mistake("nothing", "types: {Task: {title: string, «it»: }}", {
    code: "OPW011",
    says: "nothing",
    hint: "string",
  }),
];
