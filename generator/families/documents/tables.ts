// The tables that documents need besides their own.
import type { SystemTables } from "../../print/system-steps.js";
import { types } from "../../print/ddl-parts.js";

/** The steps that make and later change the tables, in order. */
export const tables: SystemTables = (engine) => {
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
