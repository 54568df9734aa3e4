// Diagnostics of types and fields.
import { entry } from "./catalogue-entry.js";

export const ofTypes = {
  OPW017: entry(
    "List of one value",
    'A field in brackets has the name of a type: `[string]` is the text "string" and nothing else.',
    "Put the brackets behind the type for a list (`string[]`). If you mean the one value, write `{const: string}`. This is a warning.",
    "warning",
  ),
  OPW018: entry(
    "Fields or a schema",
    "A map such as `{type: string, title: string}` has only keywords of JSON Schema, so it is one text with a title. Each of its values could be the type of a field as well.",
    "If you mean fields, write `{type: object, properties: {type: {type: string}, title: {type: string}}, required: [type, title], additionalProperties: false}`. If you mean the schema, reword the text: `title: A string`. This is a warning.",
    "warning",
  ),
  OPW020: entry(
    "Unknown type",
    "A field names a type that no `types:` entry declares.",
    "Declare the type, or correct the name.",
  ),
  OPW021: entry(
    "Dangling $ref",
    "A $ref points to nothing.",
    "Point it to a declared type (#/types/Name), a local definition (#/$defs/name) or a JSON file.",
  ),
  OPW022: entry(
    "Cyclic type",
    "A type contains itself through required members only, so no value could exist.",
    "Break the cycle: make a member on it optional, nullable or an array.",
  ),
  OPW023: entry(
    "Keyword not supported",
    "The JSON Schema keyword is not one that opwright compiles, or `readOnly` or `writeOnly`, which a type does not enforce.",
    "Express the rule with the supported keywords; docs/registry.md lists them. Who may write a field is said by the document: `create`, `update` and `set`.",
  ),
  OPW024: entry(
    "Invalid schema",
    "A JSON Schema keyword has a value that the keyword does not allow.",
    "Write a value that the keyword takes: https://json-schema.org/draft/2020-12/json-schema-validation.",
  ),
  OPW025: entry(
    "Reserved field",
    "A field is called like a base field, or a field or a cookie like a member that every JavaScript object has.",
    "Choose another name; id, rev, created_at, last_update_at, is_deleted and tenant_id are added by opwright.",
  ),
  OPW026: entry(
    "Bad shorthand",
    "A field's shorthand must be string, uuid, date, date-time, integer, number, boolean or a type name, with [] and ? where needed.",
    "Correct the shorthand, or write plain JSON Schema.",
  ),
  OPW027: entry(
    "Pattern that is not linear",
    "For some texts the pattern takes polynomial or exponential time, so one request could block the service.",
    "Write the repetitions so that they cannot match the same text in two ways, or use a `format`.",
  ),
  OPW116: entry(
    "Type that cannot be extended",
    "`extends` names the type itself or one that is no map of fields, or a field is declared by both.",
    "Extend a type that has fields, and give yours other names.",
  ),
  OPW101: entry(
    "Contradictory schema",
    "Two rules of a schema exclude each other, so no value could ever be valid: a lower bound above the upper one, a constant that is none of the values, a length that the pattern or format cannot have.",
    "Change or remove one of the two rules.",
  ),
  OPW102: entry(
    "Rule without effect",
    "A keyword is about values of another type than the schema's, so it checks nothing: `maxLength` is about texts, `maximum` about numbers, `maxItems` about lists. Or it stands alone: `then` and `else` need an `if`, and that needs one of them.",
    "Use the keyword of that type, add what is missing, or remove it. This is a warning.",
    "warning",
  ),
  OPW031: entry(
    "Default does not fit",
    "A default value does not match the schema of its field.",
    "Change the value or the schema.",
  ),
  OPW049: entry(
    "Open input",
    "An object of the input leaves `additionalProperties` out, so callers may send members that nobody declared, and the handler gets them.",
    "Write `additionalProperties: false`, or `true` if you mean it. This is a warning.",
    "warning",
  ),
  OPW088: entry(
    "Validation that is not linear",
    "A recursive type has branches or parts that all look at the same value, so that the work multiplies with each level of nesting, and a small request could block the service.",
    "Give each branch of the union a required member with a value of its own (`kind: {const: folder}`), and close the branches (a map of fields is closed). Let only one part of a type lead back to it.",
  ),
} as const;
