// Diagnostics that are no one family's: every code says what it means and how to mend it.
import { entry, type CatalogueEntry } from "./catalogue-entry.js";
import { ofFiles } from "./catalogue-files.js";
import { ofTypes } from "./catalogue-types.js";

export type { Severity } from "./catalogue-entry.js";

export const ofAll = {
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
  OPW016: entry(
    "Reply not possible here",
    "A handler may set a status, headers, cookies or a redirect only on an HTTP answer. They cannot be combined with `idempotency` or a realtime command, and a redirect cannot have a body (`out`). The same holds for streams and answers of a media type (`media`); of these, only `text/csv` has `out`, which is a row.",
    "Remove one of the two.",
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
  OPW039: entry(
    "Former name",
    "`was` names something that was never stored, that still exists, or that is not stored under a name of its own. Or something that is not stored by itself has a `former` value.",
    "Write the name that the document, the field, the value, the search or the storage had at the last migration. Members of lists and objects within a document keep their names.",
  ),
  OPW095: entry(
    "Written later",
    "`since: next` lets a version read what it doesn't write yet, but this one would write it: as a default, in `create` or `update`, as the only value, or in an input that isn't a document's. Or documents would lack a required field.",
    "Say it of a value, or of a field that has a default or may be null. Leave it out of `create`, `update` and `defaults`, and give operations of your own an input type without it.",
  ),
  OPW041: entry(
    "Operation declared twice",
    "Two declarations make the same operation key.",
    "Rename one of them.",
  ),
  OPW042: entry(
    "Handler not found",
    "The file or the export that a handler reference names does not exist.",
    "Write it. `opwright generate --stubs` adds handlers and hooks of operations and functions of jobs, but no scopes and topics.",
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
  OPW047: entry(
    "Key for operations that write",
    "Only an operation that writes can store its result under an Idempotency-Key, be serializable, or be tried again after a conflict.",
    "Remove the key, or run the operation in a write transaction.",
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
    "Correct the name; `opwright list --format json` has them all.",
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
    "Correct the name; `opwright list --format json` has them all.",
  ),
  OPW074: entry(
    "Nothing to emit",
    "A document emits an event that is not declared under `realtime`, carries something else, or has no `to`.",
    "Declare the event with the document's type as its data, or say with `data` which fields it carries; and say `to`.",
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
  OPW097: entry(
    "Permissions that would be confused",
    "Grants keep the first name of a permission. Two permissions would have the same one, or one has had two, or would hold in other tenants than before.",
    "Give each permission of its own a name of its own, and `was` to one that is only called otherwise. To divide a permission into two, leave `was` out and grant the new one.",
  ),
  OPW100: entry(
    "Events or jobs that would be confused",
    "What waits, and who subscribes, is stored under the first name of an event or a job. `was` names one that is still there, or that another was called as well.",
    "Write the name that it had first. What means something else has no `was`.",
  ),
  OPW099: entry(
    "Step that refuses nobody",
    "A step of a policy is a hook that runs when the work is committed, or, in the guard of an event, a hook that only requests run. It would guard nothing.",
    "Give the hook the phase `before`. One that only follows an operation belongs in the `hooks` of the operation or document.",
  ),
  ...ofFiles,
  ...ofTypes,
} as const satisfies Record<string, CatalogueEntry>;

/** The codes that there are; families add theirs (`diagnostics.ts`). */
export interface DiagnosticCodes extends Record<keyof typeof ofAll, true> {}

export type DiagnosticCode = keyof DiagnosticCodes;
