// The table of the audit trail.
import { types } from "../../print/ddl-parts.js";
import { index, present, type SystemTables } from "../../print/system-steps.js";

/** Its steps, in the order in which they are made. */
export const tables: SystemTables = (engine) => {
  const type = types[engine];
  const ofAudit = (name: string, columns: string): string =>
    index(`opwright_audit_by_${name}`, "opwright_audit", `${columns}, "at", "id"`);
  return {
    opwright_audit: {
      columns: [
        `"id" ${type.uuid} PRIMARY KEY`,
        `"tenant_id" ${type.text} NOT NULL`,
        `"at" ${type.number} NOT NULL`,
        `"operation" ${type.text} NOT NULL`,
        `"request_id" ${type.text} NOT NULL`,
        `"principal_id" ${type.uuid}`,
        `"actor_id" ${type.uuid}`,
        `"credential" ${type.text}`,
        `"change" ${type.text} NOT NULL`,
        `"resource" ${type.text}`,
        `"resource_id" ${type.text}`,
        `"rev" INTEGER`,
        `"fields" ${type.text} NOT NULL`,
        `"details" ${type.text} NOT NULL`,
      ],
      indexes: ["at"],
    },
    "opwright_audit.lists": [
      ofAudit("tenant", `"tenant_id"`),
      ofAudit("resource", `"tenant_id", "resource", "resource_id"`),
      ofAudit("principal", `"principal_id", "tenant_id"`),
      index("opwright_audit_by_actor", "opwright_audit", `"actor_id"`, present("actor_id")),
    ],
  };
};
