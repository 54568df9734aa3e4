// The catalogue of diagnostics: every code says what it means and how to mend it.
import { entry, type CatalogueEntry } from "./catalogue-entry.js";
import { ofFiles } from "./catalogue-files.js";
import { ofTypes } from "./catalogue-types.js";

export type { Severity } from "./catalogue-entry.js";

export const catalogue = {
  OPW001: entry(
    "YAML syntax",
    "The file is not valid YAML 1.2.",
    "Fix the line that the code frame shows.",
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
    "`retention.deleted` needs `soft_delete`, and `retention.history` needs `history`; without them nothing is kept.",
    "Declare `soft_delete` or `history`, or remove the line from `retention`.",
  ),
  OPW010: entry(
    "Unknown key",
    "A key is not part of the registry format.",
    "Correct the spelling. Data of your own goes under keys that begin with x-.",
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
    "Unsuitable profile",
    "`identity.sign_up.profile` names a document that isn't one per principal, or that isn't declared.",
    "Name a document with `unique: [[owner_id]]` and without `read_only`, and with `tenant: false` where there is `tenancy`.",
  ),
  OPW015: entry(
    "Header of opwright's own",
    "An operation reads a credential, or sets a header that the service or the protocol sets.",
    "Leave it out: `identity` knows credentials, `reply.cookies` sets cookies, `reply.redirect` sends callers on.",
  ),
  OPW016: entry(
    "Reply not possible here",
    "A handler may set a status, headers, cookies or a redirect only on an HTTP answer. They cannot be combined with `idempotency` or a realtime command, and a redirect cannot have a body (`out`).",
    "Remove one of the two.",
  ),
  OPW019: entry(
    "History kept twice",
    "Two keys say how many revisions of a document are kept.",
    "Keep one of them.",
  ),
  OPW028: entry(
    "Unknown error",
    "An operation or a hook names an error that `errors` does not have.",
    "Declare it there, or correct the spelling.",
  ),
  OPW029: entry(
    "Invalid reference",
    "A field refers to a document that is not declared, or in a way that cannot be kept consistent.",
    "Name a declared document. Both documents belong to tenants, or neither does. `set_null` needs `ref: name?`. If the document that is named has `soft_delete`, `cascade` needs it on this one too. A `view` must be one of the document that is named.",
  ),
  OPW030: entry(
    "Unknown field",
    "One of a document's settings names a field that its type does not have.",
    "Correct the name, or add the field to the type.",
  ),
  OPW032: entry(
    "Field can never be set",
    "A required field is not in `create` and has no default, so no document could be created.",
    "Add it to `create`, give it a default, or make it nullable.",
  ),
  OPW034: entry(
    "Field cannot be indexed",
    "`indexes` or `unique` names a field that is not scalar, or more than 30 fields.",
    "Index scalar fields, 30 at most.",
  ),
  OPW035: entry(
    "Stored shape changed",
    "A document's storage changed in a way that no migration can follow.",
    "Undo the change; or say with `former` what a new field is in stored documents, give it a default, or make it nullable; or declare a document with another name, and copy the stored documents with a handler. If no shared database has these migrations yet, run `opwright migrations squash`, which writes them again.",
  ),
  OPW036: entry(
    "SQL name not available",
    "A table, history table or index would have a name that is taken or reserved, or a table one that is too long.",
    "Rename the document, or leave out what is there twice.",
  ),
  OPW037: entry(
    "Invalid search",
    "A search names a document or a field that does not exist or that it cannot use.",
    "Name a declared document in `of`, one to four of its texts with weights above 0 in `text`, and fields of single values or lists of them in `facets`.",
  ),
  OPW038: entry(
    "Transaction route",
    "A composite names a transaction route that is not the service's.",
    "Name the one of `service.transaction`, or leave it out.",
  ),
  OPW039: entry(
    "Former name",
    "`was` names something that was never stored, that still exists, or that is not stored under a name of its own. Or something that is not stored by itself has a `former` value.",
    "Write the name that the document, the field, the value, the search or the storage had at the last migration. Members of lists and objects within a document keep their names.",
  ),
  OPW092: entry(
    "Dropped field",
    "`dropped` names a field that the document still has, or never had, or that was only renamed.",
    "Take the field out of the type and name it as it was called at the last migration, or remove the entry.",
  ),
  OPW093: entry(
    "Entry that has done its work",
    "What the entry says is in the rows already, so it does nothing any more.",
    "Remove it. This is a warning.",
    "warning",
  ),
  OPW095: entry(
    "Written later",
    "`since: next` lets a version read what it doesn't write yet, but this one would write it: as a default, in `create` or `update`, as the only value, or in an input that isn't a document's. Or documents would lack a required field.",
    "Say it of a value, or of a field that has a default or may be null. Leave it out of `create`, `update` and `defaults`, and give operations of your own an input type without it.",
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
    "Write it. `opwright generate --stubs` adds handlers and hooks of operations, but no scopes and topics.",
  ),
  OPW043: entry(
    "Handler signature",
    "The export is not a function with the parameters of a handler or hook.",
    "Write (input, context) => output; the generated type <Operation>Handler has the exact types.",
  ),
  OPW089: entry(
    "Forgotten await",
    "A handler or hook starts a call of the service and doesn't await it. The operation then answers 500, and nothing is stored.",
    "Write `await` before it, or wait for several at once with `await Promise.all(…)`. This is a warning.",
    "warning",
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
    "Name collision in code",
    "Two operations, or two namespaces, would have the same name in code.",
    "Rename the operation, or its namespace.",
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
    "Name one of `policies:`. To make it public, write `policies: {open: []}` and `guard: open`.",
  ),
  OPW054: entry("Hook twice", "The same hook appears twice in one chain.", "Keep one."),
  OPW055: entry(
    "Unprivileged administration",
    "The guard of an administration requires nothing that ordinary callers lack.",
    "Let its policy require a `platform.` permission, or name a hook of your own.",
  ),
  OPW056: entry(
    "Scope without rows",
    "A policy restricts rows by `scope`, but the operation reads no documents to which the filter could apply.",
    "Use a policy without `scope` here.",
  ),
  OPW057: entry(
    "A part needs another",
    "A part of the registry cannot work without another one.",
    "Declare what the message names, or remove the part.",
  ),
  OPW058: entry(
    "Type of an event",
    "An integration event of your own needs `data`; opwright's own events have a fixed type and take none.",
    "Give the event `data`, or remove it.",
  ),
  OPW059: entry(
    "Open list without limit",
    "Anybody may list, aggregate or search documents that grow, as often as they like. Each query is priced and ends at its deadline, but calls are not counted.",
    "Add `{rate_limit: 600/1m}` to the policy, or require a `principal`. If you mean it, leave it: this is a warning.",
    "warning",
  ),
  OPW060: entry(
    "Namespace or prefix",
    "A mount has neither or both of `namespace` and `prefix`.",
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
    "An override leaves out a placeholder of the default path; the value would silently move to the query.",
    "Keep every placeholder of the default path.",
  ),
  OPW065: entry(
    "Path adds a placeholder",
    "An override has a placeholder that the default path does not have.",
    "Remove it.",
  ),
  OPW066: entry(
    "Sensitive declaration mounted",
    "A document or a storage marked `sensitive` is never attached to a route. Neither is a search over such a document.",
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
    "Change one path or mount. A mount gives single operations other paths with `paths`.",
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
    "A realtime command names an operation that does not exist, or that is not one of your own.",
    "Name an operation of `operations:`.",
  ),
  OPW072: entry(
    "Durable topic",
    "A durable signal waits in the mailboxes of principals. A topic has no mailbox: only those who are connected hear it.",
    "Make it ephemeral, or address principals.",
  ),
  OPW073: entry(
    "Signal without a target",
    "`to` must say who hears the signal: a principal by a UUID field of the payload, or a topic that is made of text and fields.",
    "Write fields of the payload in braces.",
  ),
  OPW074: entry(
    "Nothing to emit",
    "A document emits an event that is not declared under `realtime`, does not carry the document, or has no `to`.",
    "Declare the event with the document's type as its data, and `to`.",
  ),
  OPW075: entry(
    "Nothing to subscribe to",
    "`webhooks` names an event that the outbox does not have, or one of opwright's own, which carries secrets.",
    "Name events of your own under `outbox`.",
  ),
  OPW076: entry(
    "Invalid ingress",
    "Two entries of `identity.ingress` read the same place, one has a key that does not belong to it, or a token in the query has no WebSocket transport.",
    "Give each a place of its own. `scheme` belongs to `bearer`, and `route` to tokens; `query` needs the transport websocket, and a name that handshakes do not use themselves.",
  ),
  OPW077: entry(
    "Authentication routes",
    "An ingress names an authentication route that is not declared, a route has no ingress, or `identity.routes` is combined with the keys that it replaces.",
    "Name one of `identity.routes` at each ingress, and write `verifier` and `resolver` in the route.",
  ),
  OPW078: entry(
    "Credentials ignored",
    "An operation does not look at credentials, but its guard or a hook requires a caller, so every call would be 401.",
    "Remove `credentials: ignore`, or name a policy that requires no caller.",
  ),
  OPW079: entry(
    "Open administration",
    "Anybody may use operations that are for administrators.",
    "Name a policy that requires a `platform.` permission. If a gateway protects them, leave it: this is a warning.",
    "warning",
  ),
  OPW096: entry(
    "Documents beyond their scopes",
    "A handler or a hook calls `unscoped`, so it reads and writes documents that the caller could not.",
    "Check that the code shows nobody what a scope hides. If you mean it, leave it: this is a warning.",
    "warning",
  ),
  OPW090: entry(
    "Field that the service sets",
    "A field of `set` cannot hold its value, is computed from something that does not exist, or is also in `create`, `update` or `defaults`.",
    "Set `$caller` into a UUID or a text, `$profile` into a reference to the document of `identity.sign_up.profile`, `$now` into a date-time, sums and counts into numbers, and leave the field out of `create`, `update` and `defaults`.",
  ),
  OPW097: entry(
    "Permissions that would be confused",
    "Grants keep the first name of a permission. Two permissions would have the same one, or one has had two, or would hold in other tenants than before.",
    "Give each permission of its own a name of its own, and `was` to one that is only called otherwise. To divide a permission into two, leave `was` out and grant the new one.",
  ),
  OPW100: entry(
    "Events that would be confused",
    "What waits for delivery, and who subscribes, is stored under the first name of an event. `was` names one that is still there, or that another event was called as well.",
    "Write the name that the event had first. An event that tells of something else has no `was`.",
  ),
  OPW098: entry(
    "Event under a scope",
    "An event goes whole to whoever subscribes, so a guard that narrows rows cannot hold for it.",
    "Give the event a `guard` without a scope, or leave it out of `webhooks.events`.",
  ),
  OPW099: entry(
    "Step that refuses nobody",
    "A step of a policy is a hook that runs when the work is committed, or, in the guard of an event, a hook that only requests run. It would guard nothing.",
    "Give the hook the phase `before`. One that only follows an operation belongs into the `hooks` of the operation or document.",
  ),
  ...ofFiles,
  ...ofTypes,
} as const satisfies Record<string, CatalogueEntry>;

export type DiagnosticCode = keyof typeof catalogue;

/** Whether the text is a code of the catalogue. */
export function isDiagnosticCode(text: string): text is DiagnosticCode {
  return Object.hasOwn(catalogue, text);
}
