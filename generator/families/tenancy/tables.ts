// The tables of members who look after each other.
import { types } from "../../print/ddl-parts.js";
import { index, type SystemTables } from "../../print/system-steps.js";

/** Its steps, in the order in which they are made. */
export const tables: SystemTables = (engine) => {
  const type = types[engine];
  return {
    opwright_invitations: {
      columns: [
        `"id" ${type.uuid} PRIMARY KEY`,
        `"tenant_id" ${type.text} NOT NULL`,
        `"login" ${type.text} NOT NULL`,
        `"roles" ${type.text} NOT NULL`,
        `"invited_by" ${type.uuid} NOT NULL`,
        `"created_at" ${type.number} NOT NULL`,
        `"expires_at" ${type.number} NOT NULL`,
        `"digest" ${type.text} NOT NULL UNIQUE`,
        `UNIQUE ("tenant_id", "login")`,
      ],
      indexes: ["expires_at", "invited_by"],
    },
    // Whether anybody else has a role.
    "opwright_grants.held": [
      index("opwright_grants_by_permission", "opwright_grants", `"tenant_id", "permission"`),
    ],
  };
};
