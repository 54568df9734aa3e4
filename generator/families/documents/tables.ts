// The tables that documents need besides their own.
import { index, type SystemTables } from "../../print/system-steps.js";
import { types } from "../../print/ddl-parts.js";

/** The table of running numbers. */
export const counterTable: SystemTables = (engine) => {
  const type = types[engine];
  return {
    opwright_counters: {
      columns: [
        `"name" ${type.text} NOT NULL`,
        `"tenant_id" ${type.text} NOT NULL`,
        `"key" ${type.text} NOT NULL`,
        `"value" ${type.number} NOT NULL`,
        `PRIMARY KEY ("name", "tenant_id", "key")`,
      ],
      indexes: [],
    },
  };
};

/** The table of what deletions have done to other documents. */
export const deletionTable: SystemTables = (engine) => {
  const type = types[engine];
  return {
    opwright_deletions: {
      columns: [
        `"tenant_id" ${type.text} NOT NULL`,
        `"document" ${type.text} NOT NULL`,
        `"id" ${type.uuid} NOT NULL`,
        `"place" INTEGER NOT NULL`,
        `"taken" ${type.text} NOT NULL`,
        `"taken_id" ${type.uuid} NOT NULL`,
        `"rev" INTEGER NOT NULL`,
        `"member" ${type.text}`,
        `"named" ${type.uuid}`,
        `PRIMARY KEY ("tenant_id", "document", "id", "place")`,
      ],
    },
    "opwright_deletions.taken": [
      index(
        "opwright_deletions_by_taken",
        "opwright_deletions",
        `"tenant_id", "taken", "taken_id"`,
      ),
    ],
  };
};
