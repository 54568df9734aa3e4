// `tenancy:`: whose data an operation sees.
import { administration, mount, optional } from "../../load/format-parts.js";
import type { Declared, Member, FormatShape } from "../../load/shape.js";

const tenancy = {
  kind: "object",
  members: {
    trust_tenant_header: optional(
      { kind: "boolean" },
      "Whether X-Tenant-Id names the tenant where the credential does not; false where left out.",
    ),
    trust_forwarded_host: optional(
      { kind: "boolean" },
      "Whether X-Forwarded-Host is believed from the proxies that TRUSTED_PROXIES names; false where left out.",
    ),
    host: optional(
      {
        kind: "string",
        pattern: /^(?:[a-z0-9-]+\.)*[a-z0-9-]*\{tenant\}(?:-[a-z0-9-]+)?(?:\.[a-z0-9-]+)+$/,
        what: "a host such as {tenant}.example.com",
        example: "{tenant}.example.com",
      },
      "The host that names a tenant by its key; hosts name none where left out.",
    ),
    selector: optional(
      {
        kind: "object",
        members: { mount: optional(mount, "Where the routes are; /tenants where left out.") },
      },
      "How callers list, choose and leave their tenants.",
    ),
    admin: optional(
      administration,
      "Administration of tenants and memberships; not registered where left out.",
    ),
  },
} as const satisfies FormatShape;

declare module "../../load/declarations.js" {
  interface Declarations {
    readonly tenancy: Declared<typeof tenancy> | undefined;
  }
}

/** The sections of the registry that this family reads. */
export const format: Readonly<Record<string, Member>> = {
  tenancy: {
    ...optional(tenancy, "Tenants: whose data an operation sees."),
    alsoCalled: ["tenants", "organizations"],
  },
};
