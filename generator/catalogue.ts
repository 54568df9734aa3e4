// The catalogue of diagnostics: every code says what it means and how to mend it.
import { entry, type CatalogueEntry } from "./catalogue-entry.js";
import { ofFiles } from "./catalogue-files.js";

export type { Severity } from "./catalogue-entry.js";

export const catalogue = {
  OPW001: entry(
    "YAML syntax",
    "The file is not valid YAML 1.2.",
    "Mend the place that the code frame shows.",
  ),
  OPW002: entry(
    "Key written twice",
    "One map of one file has the same key twice.",
    "Remove or rename one of the two.",
  ),
  OPW003: entry(
    "Declared twice",
    "Two declarations have the same name in the same section.",
    "Keep one declaration; names are unique over all files.",
  ),
  OPW004: entry(
    "Too many aliases",
    "YAML aliases expand to more nodes than a registry may have.",
    "Write the repeated part as a type or a policy and refer to it by name.",
  ),
  OPW005: entry(
    "Tag not allowed",
    "A registry is data only; YAML tags are refused.",
    "Remove the tag.",
  ),
  OPW007: entry(
    "Registry version",
    "A registry file does not begin with `registry: 1`.",
    "Write `registry: 1` at the top of the file.",
  ),
  OPW009: entry(
    "Nothing to keep",
    "`retention` says how long something is kept that the documents don't have: what is deleted without `soft_delete`, revisions without `history`.",
    "Declare it, or remove the line of `retention`.",
  ),
  OPW010: entry(
    "Unknown key",
    "A key is not part of the registry format.",
    "Correct the spelling; own data goes under keys that begin with x-.",
  ),
  OPW011: entry(
    "Wrong type",
    "A value has another type than the format asks for.",
    "Write a value of the type that the message names.",
  ),
  OPW012: entry(
    "Missing key",
    "A key that must be given is missing.",
    "Add the key that the message names; docs/registry.md says what it holds.",
  ),
  OPW013: entry(
    "Invalid value",
    "A value has the right type but is not one of those allowed.",
    "Use one of the values, or the pattern, that the message names.",
  ),
  OPW014: entry(
    "Profile that cannot be one",
    "`identity.sign_up.profile` names a document that a principal cannot have exactly one of, or none.",
    "Name a document with `unique: [[owner_id]]`, and `tenant: false` where there is `tenancy`.",
  ),
  OPW015: entry(
    "Header of opwright's own",
    "An operation reads a credential, or sets a header that the service or the protocol sets.",
    "Leave it out: `identity` knows credentials, `reply.cookies` sets cookies, `reply.redirect` sends callers on.",
  ),
  OPW016: entry(
    "Reply beside what has none",
    "Statuses, headers, cookies and redirects of a handler are of an HTTP answer that is made once: not of a replay, not of a realtime command, and a redirect has no body.",
    "Remove one of the two.",
  ),
  OPW019: entry(
    "Said twice",
    "Two keys say how many revisions of a document are kept.",
    "Keep one of them.",
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
    "A type contains itself with nothing in between, so no value could exist.",
    "Break the cycle with an array or an optional or nullable member.",
  ),
  OPW023: entry(
    "Keyword not supported",
    "The JSON Schema keyword is not one that opwright compiles.",
    "Express the rule with the supported keywords; docs/registry.md lists them.",
  ),
  OPW024: entry(
    "Invalid schema",
    "A JSON Schema keyword has a value that it cannot have.",
    "Write a value that the keyword takes: https://json-schema.org/draft/2020-12/json-schema-validation.",
  ),
  OPW025: entry(
    "Reserved field",
    "A field has the name of a base field, or one that JavaScript objects already have.",
    "Choose another name; id, rev, created_at, last_update_at, is_deleted and tenant_id are added by opwright.",
  ),
  OPW026: entry(
    "Bad shorthand",
    "A field's shorthand is not of the grammar: string, uuid, date-time, integer, number, boolean or a type name, with [] and ?.",
    "Use the grammar, or write plain JSON Schema.",
  ),
  OPW027: entry(
    "Pattern that is not linear",
    "There are texts for which the pattern takes polynomial or exponential time, so that one request could hold the service up.",
    "Write the repetitions so that they cannot match the same text in two ways, or use a `format`.",
  ),
  OPW028: entry(
    "Unknown error",
    "An operation or a hook names an error that `errors` does not have.",
    "Declare it there, or correct the spelling.",
  ),
  OPW029: entry(
    "Reference",
    "A field names a document that is not there, or one that it cannot be kept with.",
    "Name a document of the registry. Both are of tenants, or neither; null needs `ref: name?`; what is marked as deleted takes along only what can be marked, too. A `view` is one of that document.",
  ),
  OPW030: entry(
    "Unknown field",
    "A document's list names a field that its type does not have.",
    "Correct the name, or add the field to the type.",
  ),
  OPW031: entry(
    "Default does not fit",
    "A default value does not match the schema of its field.",
    "Change the value or the schema.",
  ),
  OPW032: entry(
    "Field can never be set",
    "A required field is neither in `create` nor has a default, so no document could be made.",
    "Add it to `create`, give it a default, or make it nullable.",
  ),
  OPW033: entry(
    "Type used twice",
    "Two documents have the same type; the type carries the base fields of one document.",
    "Give each document a type of its own.",
  ),
  OPW034: entry(
    "Field cannot be indexed",
    "Only scalar fields can stand in `indexes`.",
    "Index a scalar field.",
  ),
  OPW035: entry(
    "Stored shape changed",
    "A document's storage changed in a way that no migration can follow.",
    "Undo the change; or give a new field a default or make it nullable; or declare a document of another name, and copy what there is with a handler. Where no database of a shared environment has it yet, run `opwright migrations squash`, which makes its migrations anew.",
  ),
  OPW036: entry(
    "Name in SQL",
    "A table, history table or index would have a name that is taken, reserved or too long.",
    "Rename the document, or leave out what is there twice.",
  ),
  OPW037: entry(
    "Search that cannot be",
    "A search names a document or a field that is not there or that it cannot use.",
    "Name a declared document in `of`, one to four of its texts with weights above 0 in `text`, and fields of single values or lists of them in `facets`.",
  ),
  OPW038: entry(
    "Transaction route",
    "A composite names a transaction route that is not the service's.",
    "Name the one of `service.transaction`, or leave it out.",
  ),
  OPW039: entry(
    "Former name",
    "`was` names what there never was, what there still is, or what is not stored under a name of its own.",
    "Name what the document, the field or the value was called at the last migration. Members of lists and objects within a document keep their names.",
  ),
  OPW040: entry(
    "Bad operation key",
    "An operation key is not <namespace>.<operation> in [a-z][a-z0-9_]* with exactly one dot.",
    "Rename the operation, or its namespace.",
  ),
  OPW041: entry(
    "Operation declared twice",
    "Two declarations make the same operation key.",
    "Rename one of them.",
  ),
  OPW042: entry(
    "Handler not found",
    "The file or the export that a handler reference names does not exist.",
    "Write it, or run `opwright generate --stubs` to have it added once.",
  ),
  OPW043: entry(
    "Handler signature",
    "The export is not a function with the parameters of a handler or hook.",
    "Write (input, context) => output; the generated type <Operation>Handler says the rest.",
  ),
  OPW044: entry(
    "Placeholder without input",
    "A path placeholder is not a member of the operation's `in`.",
    "Add the member, or take the placeholder out of the path.",
  ),
  OPW045: entry(
    "Value cannot travel in the URL",
    "A path or query value must be a string, uuid, integer, number or boolean.",
    "Use a method with a body, or a scalar type.",
  ),
  OPW046: entry(
    "No or several methods",
    "An operation has one of get, post, put, patch, delete.",
    "Keep exactly one.",
  ),
  OPW047: entry(
    "Idempotency without a write",
    "Only an operation that writes can store its result under an Idempotency-Key.",
    "Remove `idempotency`, or run the operation in a write transaction.",
  ),
  OPW048: entry(
    "Name in code",
    "Two operations, or two namespaces, would have the same name in code.",
    "Rename the operation, or its namespace.",
  ),
  OPW049: entry(
    "Open input",
    "An object of the input leaves `additionalProperties` out, so callers may send members that nobody declared, and the handler gets them.",
    "Write `additionalProperties: false`, or `true` where it is meant. This is a warning.",
    "warning",
  ),
  OPW050: entry(
    "Unknown policy",
    "A guard names a policy that is not declared.",
    "Declare it under `policies:`, or correct the name.",
  ),
  OPW051: entry(
    "Unknown hook",
    "A policy or hook list names a hook that is not declared.",
    "Declare it under `hooks:`, or write file#export.",
  ),
  OPW052: entry(
    "Unmet requirement",
    "A hook requires a step that no earlier hook of the chain provides.",
    "Put a hook that provides the step before it.",
  ),
  OPW053: entry(
    "Guard missing",
    "An operation has no guard. Nothing is public by accident.",
    "Name one of `policies:`. What is public says so: `policies: {open: []}` and `guard: open`.",
  ),
  OPW054: entry("Hook twice", "The same hook stands twice in one chain.", "Keep one."),
  OPW055: entry(
    "Unprivileged administration",
    "The guard of an administration asks for nothing that ordinary callers do not have.",
    "Let its policy ask for a `platform.` permission, or name a hook of your own.",
  ),
  OPW056: entry(
    "Scope without rows",
    "A policy narrows rows, but the operation has no documents that could carry the filter.",
    "Use a policy without `scope` here.",
  ),
  OPW057: entry(
    "A part needs another",
    "A part of the registry cannot work without another one.",
    "Declare what the message names, or remove the part.",
  ),
  OPW058: entry(
    "Type of an event",
    "An integration event of your own says what it carries; those of opwright have types already.",
    "Give the event `data`, or remove it.",
  ),
  OPW059: entry(
    "Open list without limit",
    "Anybody may list, aggregate or search documents that grow, as often as they like. Each query is priced and ended at its deadline, but who asks is not even counted.",
    "Add `{rate_limit: 600/1m}` to the policy, or ask for a `principal`. Where it is meant, leave it: this is a warning.",
    "warning",
  ),
  OPW060: entry(
    "Namespace or prefix",
    "A mount gives neither or both of `namespace` and `prefix`.",
    "Give exactly one of the two.",
  ),
  OPW061: entry(
    "Wrong prefix",
    "No namespace is registered under that prefix, or several are.",
    "Use the prefix that the message names, or name the namespace.",
  ),
  OPW062: entry(
    "Unknown operation",
    "A list or map of operations names one that the namespace does not register.",
    "Correct the name; `opwright list` shows them.",
  ),
  OPW063: entry(
    "Path for an operation that is not attached",
    "`paths` names an operation that this mount does not attach.",
    "Include the operation, or remove the path.",
  ),
  OPW064: entry(
    "Path drops a placeholder",
    "An override leaves out a placeholder of the default path; the value would silently move elsewhere.",
    "Keep every placeholder of the default path.",
  ),
  OPW065: entry(
    "Path adds a placeholder",
    "An override has a placeholder that the default path does not bind.",
    "Remove it.",
  ),
  OPW066: entry(
    "Something sensitive mounted",
    "A document or a storage marked `sensitive` is never attached to a route, and no search over such a document.",
    "Set `mount: false`, or remove it from the mount.",
  ),
  OPW067: entry(
    "Mount attaches nothing",
    "After `include` no operation is left to attach.",
    "Include at least one operation, or use `mount: false`.",
  ),
  OPW068: entry(
    "Routes collide",
    "Two operations answer the same method and path.",
    "Change one path or mount.",
  ),
  OPW069: entry(
    "Attached twice",
    "An operation is attached by two mounts; it has one route at most.",
    "Leave it out of one of the two with `include`.",
  ),
  OPW070: entry(
    "Unknown namespace",
    "A mount names a namespace that nothing registers.",
    "Correct the name; `opwright list` shows them.",
  ),
  OPW071: entry(
    "Command without an operation",
    "A realtime command names an operation that is not there, or that is not one of your own.",
    "Name an operation of `operations:`.",
  ),
  OPW072: entry(
    "Durable topic",
    "A durable signal waits in the mailboxes of principals; topics are heard by who is there.",
    "Make it ephemeral, or address principals.",
  ),
  OPW073: entry(
    "Signal without a target",
    "`to` names who hears a signal by fields of its payload: a principal by a UUID, a topic by texts and fields.",
    "Name fields of the payload in braces.",
  ),
  OPW074: entry(
    "Nothing to emit",
    "A document emits events of `realtime` that carry the document and say `to` whom.",
    "Declare the event with the document's type as its data, and `to`.",
  ),
  OPW075: entry(
    "Nothing to subscribe to",
    "`webhooks` names an event that the outbox does not have, or one of opwright's own, which carries secrets.",
    "Name events of your own under `outbox`.",
  ),
  OPW076: entry(
    "Ingress that cannot be",
    "Two entries of `identity.ingress` look at the same place, one says what does not belong to it, or a token in the query has no WebSocket to come by.",
    "Give each a place of its own. `scheme` belongs to `bearer`, and `route` to tokens; `query` needs the transport websocket, and a name that no handshake has.",
  ),
  OPW077: entry(
    "Authentication routes",
    "An ingress names an authentication route that is not there, a route has no ingress, or `identity.routes` stands beside what it replaces.",
    "Name one of `identity.routes` at each ingress, and say `verifier` and `resolver` there.",
  ),
  OPW078: entry(
    "Credentials ignored",
    "An operation does not look at credentials, but its guard or a hook asks who is calling, so every call would be 401.",
    "Leave `credentials` out, or name a policy that asks for nobody.",
  ),
  OPW079: entry(
    "Open administration",
    "Anybody may use operations that are for administrators.",
    "Name a policy that asks for a `platform.` permission. Where a gateway guards them, leave it: this is a warning.",
    "warning",
  ),
  OPW090: entry(
    "Field that the service sets",
    "A field of `set` cannot have what it is set to, is made of what is not there, or stands in `create`, `update` or `defaults` as well.",
    "Set `$caller` into a UUID or a text, `$profile` into a reference to the document of `identity.sign_up.profile`, `$now` into a date-time, sums and counts into numbers, and leave the field out of `create`, `update` and `defaults`.",
  ),
  ...ofFiles,
} as const satisfies Record<string, CatalogueEntry>;

export type DiagnosticCode = keyof typeof catalogue;

/** Whether the text is a code of the catalogue. */
export function isDiagnosticCode(text: string): text is DiagnosticCode {
  return Object.hasOwn(catalogue, text);
}
