// Roles, and members of tenants who give them: what names what else is there.
import { isMap } from "../../../generator/load/shape.js";
import type { Draw } from "./draw.js";
import { names, verbs } from "./samples.js";
import type { Json } from "./world.js";

type Fields = Readonly<Record<string, unknown>>;

const permissions = ["members.read", "members.write", "tasks.read", "platform.admin", "admin"];

/** Roles, of which some give each other. */
export function randomRoles(draw: Draw): Json {
  const chosen = draw.some(names, 1, 3);
  return Object.fromEntries(
    chosen.map((name) => {
      const permits = draw.some(permissions, 0, 3);
      const isGiving = draw.chance(60);
      return [name, isGiving ? { permissions: permits, gives: draw.some(chosen, 0, 2) } : permits];
    }),
  );
}

/** Tenancy with members only where somebody gives a role; its mounts are as `mounted` makes them. */
export function mendTenancy(
  { tenancy, roles }: Json,
  mounted: (registered: readonly string[], one: Fields) => Fields,
): Json {
  if (!isMap(tenancy)) return {};
  const { selector, admin, members, ...rest } = tenancy;
  const isGiven = isMap(roles) && Object.values(roles).some((one) => isMap(one) && isGiving(one));
  return {
    tenancy: {
      ...rest,
      ...(isMap(selector)
        ? { selector: founded(mounted(foundedBy(selector), selector), roles) }
        : {}),
      ...(isMap(admin) ? { admin: mounted(verbs.tenant_admin, admin) } : {}),
      ...(isMap(members) && isGiven ? { members: mounted(verbs.members, members) } : {}),
    },
  };
}

/** The outbox with the event of invitations, where members invite. */
export function withInvitations({ tenancy, outbox }: Json): Json {
  if (!isMap(tenancy) || tenancy["members"] === undefined) return {};
  const events = isMap(outbox) && isMap(outbox["events"]) ? outbox["events"] : {};
  const invited = { destination: "mail" };
  return {
    outbox: {
      ...(isMap(outbox) ? outbox : {}),
      events: { ...events, "tenancy.member_invited": invited },
    },
  };
}

function isGiving({ gives }: Fields): boolean {
  return Array.isArray(gives) && gives.length > 0;
}

function foundedBy({ create }: Fields): readonly string[] {
  return create === undefined ? verbs.tenants : [...verbs.tenants, "create_tenant"];
}

/** Whoever creates a tenant gets roles that are there. */
function founded({ create, ...rest }: Fields, roles: unknown): Fields {
  if (create === undefined) return rest;
  return { ...rest, create: { roles: isMap(roles) ? Object.keys(roles).slice(0, 2) : [] } };
}

/** Without a profile nothing of it is shown. */
export function withoutShown(registry: Json): Json {
  return showing(registry, []);
}

/** What is shown of a profile of this type. */
export function withShown(registry: Json, type: unknown): Json {
  const body = isMap(type) ? (type["properties"] ?? type) : {};
  return showing(registry, isMap(body) ? Object.keys(body).slice(0, 1) : []);
}

function showing(registry: Json, fields: readonly string[]): Json {
  const { tenancy } = registry;
  if (!isMap(tenancy) || !isMap(tenancy["members"])) return registry;
  const { shows, ...members } = tenancy["members"];
  const shown = shows === undefined ? {} : { shows: fields };
  return { ...registry, tenancy: { ...tenancy, members: { ...members, ...shown } } };
}
