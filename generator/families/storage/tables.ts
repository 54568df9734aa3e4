// The tables of storages: what is known of each object, by the key that its engine has it under,
// and which keys are changing.
import { types } from "../../print/ddl-parts.js";
import { index, type SystemTables } from "../../print/system-steps.js";

/** The steps for uploads that are scanned. */
export const quarantineTable: SystemTables = (engine) => {
  const type = types[engine];
  const texts = ["place", "tenant", "key", "state"].map(
    (name) => `"${name}" ${type.text} NOT NULL`,
  );
  const times = ["begun_at", "due_at", "until"].map((name) => `"${name}" ${type.number} NOT NULL`);
  return {
    opwright_quarantine: {
      columns: [
        `"id" ${type.text} NOT NULL PRIMARY KEY`,
        ...texts,
        ...times,
        `"bytes" ${type.text}`,
        `"arrived" ${type.number}`,
      ],
      indexes: ["due_at"],
    },
    "opwright_quarantine.key": [
      index(
        "opwright_quarantine_by_key",
        "opwright_quarantine",
        `"place", "tenant", "key", "arrived"`,
      ),
    ],
  };
};

/** Its steps, in the order in which they are made. */
export const tables: SystemTables = (engine) => {
  const type = types[engine];
  // Keys are in the order of their bytes, as engines list them.
  const key = `"key" ${type.text}${engine === "postgres" ? ` COLLATE "C"` : ""} NOT NULL`;
  return {
    opwright_objects: {
      columns: [
        `${key} PRIMARY KEY`,
        `"size" ${type.number} NOT NULL`,
        `"content_type" ${type.text} NOT NULL`,
        `"etag" ${type.text} NOT NULL`,
        `"modified_at" ${type.number} NOT NULL`,
        `"filename" ${type.text} NOT NULL`,
        `"description" ${type.text}`,
        `"tags" ${type.text} NOT NULL`,
      ],
    },
    // Which change of a key has begun last.
    opwright_object_marks: {
      columns: [`${key} PRIMARY KEY`, `"change" ${type.text} NOT NULL`],
    },
    opwright_object_changes: {
      columns: [
        key,
        `"id" ${type.text} NOT NULL`,
        `"begun_at" ${type.number} NOT NULL`,
        `"due_at" ${type.number} NOT NULL`,
        `"until" ${type.number} NOT NULL`,
        `PRIMARY KEY ("key", "id")`,
      ],
      indexes: ["due_at"],
    },
  };
};
