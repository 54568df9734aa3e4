// Names that other formats have for the keys of a document, and ours.
import { guardWords, mountWords, saidBy, wordsFor } from "../../load/other-words.js";
import type { OtherWords } from "../../load/shape.js";

export const documentWords: OtherWords = {
  ...guardWords,
  ...mountWords,
  // Reminders have a key of this name, too.
  ...saidBy("`at` belongs in `mount`: `mount: {at: …}`.", "at", "mount"),
  ...wordsFor("type", "fields schema properties columns attributes model"),
  ...wordsFor("defaults", "default"),
  ...wordsFor("indexes", "index indices"),
  ...wordsFor("no_overlap", "exclude exclusion overlap overlaps"),
  ...wordsFor("count", "large counts max_count"),
  ...wordsFor("states", "state_machine stateMachine transitions workflow lifecycle"),
  ...wordsFor("soft_delete", "paranoid"),
  ...wordsFor("history", "versioning versions audit"),
  ...wordsFor("deadline", "timeout"),
  ...saidBy(
    "Every document has `created_at` and `last_update_at`: leave it out.",
    "timestamps timestamp",
  ),
  ...saidBy("Every document has the key `id`, a UUID: leave it out.", "primaryKey key"),
  ...saidBy(
    'Every field is required unless it is nullable (`"string?"`) or has a default: leave it out.',
    "required",
  ),
  ...saidBy(
    "A search is a section beside `documents`: `search: {tasks_search: {of: tasks, text: [title], guard: member}}`.",
    "search searchable fulltext",
  ),
  ...saidBy(
    "Files are stored in a section beside `documents`: `storage: {photos: {guard: member}}`.",
    "storage files attachments uploads",
  ),
  ...saidBy(
    "A field refers to another document: `type: {project: {ref: projects}}`.",
    "relations relationships references belongsTo hasMany",
  ),
  ...saidBy(
    "Which operations have routes is said by `mount`: `mount: {at: /todo, include: [create, get, list]}`.",
    "operations actions methods endpoints include",
  ),
  ...saidBy("The table has the name of the document: leave it out.", "table tableName"),
};

export const numberWords: OtherWords = {
  ...wordsFor("format", "pattern template"),
  ...wordsFor("per", "reset scope each by"),
  ...wordsFor("start", "from first begin initial"),
  ...wordsFor("timezone", "tz time_zone timeZone"),
  ...saidBy("Numbers have no gaps unless `gaps: true` allows them: leave it out.", "gapless"),
};

export const stateWords: OtherWords = {
  ...wordsFor("field", "property column status state"),
  ...wordsFor("initial", "start begin first default"),
  ...wordsFor("from", "transitions moves to edges"),
};

export const overlapWords: OtherWords = {
  ...wordsFor("per", "by fields columns scope"),
  ...wordsFor("range", "from between period interval"),
  ...wordsFor("where", "only if filter"),
};
