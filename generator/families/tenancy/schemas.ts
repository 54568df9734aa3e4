// Schemas of tenants and of who belongs to them.
import { objectSchema, uuidSchema, type JsonSchema } from "../../model/json-schema.js";

export const tenantKey = {
  type: "string",
  pattern: "^[a-z][a-z0-9-]{0,62}$",
} as const satisfies JsonSchema;

const tenantEntry = { tenant_id: uuidSchema, tenant_key: tenantKey };
export const tenantCreated = objectSchema(tenantEntry, ["tenant_id", "tenant_key"]);

export const tenantList = objectSchema(
  {
    tenants: {
      type: "array",
      items: objectSchema({ ...tenantEntry, is_current: { type: "boolean" } }, [
        "tenant_id",
        "tenant_key",
        "is_current",
      ]),
    },
  },
  ["tenants"],
);

export const memberList = objectSchema(
  {
    members: { type: "array", items: objectSchema({ principal_id: uuidSchema }, ["principal_id"]) },
  },
  ["members"],
);

export const allTenants = objectSchema(
  {
    tenants: {
      type: "array",
      items: objectSchema({ ...tenantEntry, is_active: { type: "boolean" } }, [
        "tenant_id",
        "tenant_key",
        "is_active",
      ]),
    },
    has_more: { type: "boolean" },
  },
  ["tenants", "has_more"],
);
