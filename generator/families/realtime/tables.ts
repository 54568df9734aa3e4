// The tables of the realtime plane: signals, mailboxes, and how far each device has acknowledged.
import { addColumn, index, type SystemTables } from "../../print/system-steps.js";
import { types } from "../../print/ddl-parts.js";

/** The steps that make and later change these tables, in order. */
export const tables: SystemTables = (engine) => {
  const type = types[engine];
  return {
    opwright_signals: {
      columns: [
        `"id" ${type.uuid} PRIMARY KEY`,
        `"name" ${type.text} NOT NULL`,
        `"data" ${type.text} NOT NULL`,
        `"created_at" ${type.number} NOT NULL`,
      ],
      indexes: ["created_at"],
    },
    "opwright_signals.shape": [addColumn("opwright_signals", `"shape" ${type.text}`)],
    "opwright_signals.trace": [addColumn("opwright_signals", `"traceparent" ${type.text}`)],
    opwright_staged_signals: {
      columns: [
        engine === "sqlite"
          ? `"sequence" INTEGER PRIMARY KEY AUTOINCREMENT`
          : `"sequence" bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY`,
        `"tenant_id" ${type.text} NOT NULL`,
        `"principal_id" ${type.uuid} NOT NULL`,
        `"signal_id" ${type.uuid} NOT NULL`,
      ],
    },
    // Signals that were staged before count as the first shard's, so that they are numbered as
    // well.
    "opwright_staged_signals.shard": [
      addColumn("opwright_staged_signals", `"shard" INTEGER NOT NULL DEFAULT 0`),
      index("opwright_staged_signals_by_shard", "opwright_staged_signals", `"shard", "sequence"`),
      index("opwright_staged_signals_by_signal", "opwright_staged_signals", `"signal_id"`),
    ],
    opwright_mailbox_heads: {
      columns: [
        `"tenant_id" ${type.text} NOT NULL`,
        `"principal_id" ${type.uuid} NOT NULL`,
        `"head" ${type.number} NOT NULL`,
        `"floor" ${type.number} NOT NULL`,
        `PRIMARY KEY ("tenant_id", "principal_id")`,
      ],
    },
    "opwright_mailbox_heads.length": [
      index("opwright_mailbox_heads_by_length", "opwright_mailbox_heads", `("head" - "floor")`),
    ],
    opwright_mailbox: {
      columns: [
        `"tenant_id" ${type.text} NOT NULL`,
        `"principal_id" ${type.uuid} NOT NULL`,
        `"position" ${type.number} NOT NULL`,
        `"signal_id" ${type.uuid} NOT NULL`,
        `"created_at" ${type.number} NOT NULL`,
        `PRIMARY KEY ("tenant_id", "principal_id", "position")`,
      ],
      indexes: ["created_at"],
    },
    opwright_cursors: {
      columns: [
        `"tenant_id" ${type.text} NOT NULL`,
        `"principal_id" ${type.uuid} NOT NULL`,
        `"device" ${type.text} NOT NULL`,
        `"position" ${type.number} NOT NULL`,
        `"seen_at" ${type.number} NOT NULL`,
        `PRIMARY KEY ("tenant_id", "principal_id", "device")`,
      ],
    },
    "opwright_cursors.check_at": [
      addColumn("opwright_cursors", `"check_at" ${type.number} NOT NULL DEFAULT 0`),
      index("opwright_cursors_by_check_at", "opwright_cursors", `"check_at"`),
    ],
  };
};
