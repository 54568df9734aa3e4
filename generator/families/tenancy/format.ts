// `tenancy:`: whose data an operation sees.
import {
  administration,
  duration,
  listOf,
  mount,
  optional,
  required,
  roleName,
} from "../../load/format-parts.js";
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
        members: {
          mount: optional(mount, "Where the routes are; /tenants where left out."),
          create: optional(
            {
              kind: "object",
              members: { roles: required(listOf(roleName), "The roles of whoever creates it.") },
            },
            "Callers may create tenants; only administrators may where left out.",
          ),
        },
      },
      "How callers list, choose, create and leave their tenants.",
    ),
    members: optional(
      {
        kind: "object",
        members: {
          mount: optional(mount, "Where the routes are; /members where left out."),
          invitation_ttl: optional(
            duration,
            "How long an invitation can be accepted; 7d where left out.",
            "7d",
          ),
          shows: optional(
            listOf({ kind: "string", what: "a field of the profile", example: "name" }),
            "Fields of the profile that members see of each other; none where left out.",
          ),
        },
      },
      "How members of a tenant invite others, and give each other roles; only administrators do where left out.",
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
