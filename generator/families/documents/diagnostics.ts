// Diagnostics of documents.
import { entry } from "../../diagnostics/catalogue-entry.js";

export const diagnostics = {
  OPW009: entry(
    "Nothing to keep",
    "`retention.deleted` needs `soft_delete`, and `retention.history` needs `history`; without them nothing is kept.",
    "Declare `soft_delete` or `history`, or remove the line from `retention`.",
  ),
  OPW019: entry(
    "History kept twice",
    "Two keys say how many revisions of a document are kept.",
    "Keep one of them.",
  ),
  OPW032: entry(
    "Field can never be set",
    "A required field is not in `create` and has no default, so no document could be created.",
    "Add it to `create`, give it a default, or make it nullable.",
  ),
  OPW033: entry(
    "Type used twice",
    "Two documents have the same type; the type carries the base fields of one document.",
    "Give each document a type of its own.",
  ),
  OPW034: entry(
    "Field cannot be indexed",
    "`indexes` or `unique` names a field that is not scalar, or more than 30 fields.",
    "Index scalar fields, 30 at most.",
  ),
  OPW090: entry(
    "Field that the service sets",
    "A field of `set` cannot hold its value, is computed from something that does not exist, or is also in `create`, `update` or `defaults`.",
    "Set `$caller` into a UUID or a text, `$profile` into a reference to the document of `identity.sign_up.profile`, `$now` into a date-time, sums and counts into numbers, `$number` into a plain text or an integer, and leave the field out of `create`, `update` and `defaults`.",
  ),
  OPW107: entry(
    "Range that cannot be",
    "A range of `no_overlap` is between fields of different types, of types without an order, or a field and itself.",
    "Name two fields of the same type: date-time, date, integer or number.",
  ),
  OPW110: entry(
    "Personal field that cannot be erased",
    "`personal` names a field that the document doesn't have or that `no_overlap` is about, or gives a unique field a value.",
    "Name fields of the type. A unique one must become null.",
  ),
  OPW111: entry(
    "States that cannot be",
    "`states` names a field without a fixed list of values or a value that the field never has, has a state that nothing leads to, or asks a policy that is about requests.",
    'Name a field such as `status: ["open", "closed"]` that is always there, and let each value be initial or follow another one. A policy of a move may ask who is calling and for permissions.',
  ),
  OPW113: entry(
    "Field that cannot be hidden",
    "`visible` names a field that the document doesn't have or that a search is of, or a policy that is about requests.",
    "Name fields of the type that no search has in `text`. A policy of `visible` may ask who is calling and for permissions, and have scopes.",
  ),
  OPW114: entry(
    "Field that cannot be a key",
    "`key` names a field that the document doesn't have, that isn't a text which every document has, that only some may see, or whose unique rule leaves out deleted documents.",
    "Name a text such as `slug: string`, which is not nullable. Its unique rule is added where it is left out.",
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
};

declare module "../../diagnostics/catalogue.js" {
  interface DiagnosticCodes extends Record<keyof typeof diagnostics, true> {}
}
