// The table of the outbox.
import { addColumn, index, present, type SystemTables } from "../../print/system-steps.js";
import { types } from "../../print/ddl-parts.js";

const alive = `"dead_at" IS NULL`;

/** The steps that make and later change the table, in order. */
export const tables: SystemTables = (engine) => {
  const type = types[engine];
  return {
    opwright_outbox: {
      columns: [
        `"id" ${type.uuid} PRIMARY KEY`,
        `"name" ${type.text} NOT NULL`,
        `"payload" ${type.text} NOT NULL`,
        `"tenant_id" ${type.text} NOT NULL`,
        `"created_at" ${type.number} NOT NULL`,
        `"due_at" ${type.number} NOT NULL`,
        `"attempts" INTEGER NOT NULL`,
        `"dead_at" ${type.number}`,
        `"last_error" ${type.text}`,
      ],
      indexes: ["due_at"],
    },
    // Dead letters stay out of the indexes that the relay reads, so that they don't slow it down.
    "opwright_outbox.dead": [
      `DROP INDEX "opwright_outbox_by_due_at";`,
      index("opwright_outbox_by_due", "opwright_outbox", `"due_at", "id"`, alive),
      index("opwright_outbox_by_age", "opwright_outbox", `"created_at"`, alive),
      index("opwright_outbox_by_dead_at", "opwright_outbox", `"dead_at"`, present("dead_at")),
    ],
    "opwright_outbox.shape": [addColumn("opwright_outbox", `"shape" ${type.text}`)],
    "opwright_outbox.trace": [addColumn("opwright_outbox", `"traceparent" ${type.text}`)],
  };
};
