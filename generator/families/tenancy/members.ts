// How members of a tenant look after each other, where `tenancy.members` is declared.
import { didYouMean } from "../../diagnostics/did-you-mean.js";
import {
  objectSchema,
  propertiesOf,
  refTo,
  uuidSchema,
  type JsonSchema,
} from "../../model/json-schema.js";
import { builtInNamespace, expandBuiltIn, signedIn, withSession } from "../../kernel/built-in.js";
import type { FamilyContext, NamespaceExpansion } from "../../kernel/family.js";
import type { BuiltInGuard } from "../../kernel/guards.js";
import { askFor } from "../../kernel/permissions.js";
import { authorizeHook, builtInHook } from "../../kernel/runtime-hooks.js";
import type { DocumentModel } from "../../model/document-model.js";
import { documents } from "../documents/index.js";
import { methodsOf } from "../identity/expand.js";
import { identity as identityFamily } from "../identity/index.js";
import { identitySpec } from "../identity/spec.js";
import {
  accepting,
  invitationReading,
  invitationWriting,
  memberReading,
  memberWriting,
  registerVerb,
  roleList,
} from "./member-verbs.js";
import { tenantCreated } from "./schemas.js";

const time: JsonSchema = { type: "string", format: "date-time" };
const invitedEvent = "tenancy.member_invited";

const membersNamespace = {
  name: "members",
  description: "The members of the caller's tenant, their roles, and invitations.",
};

/** The namespace `members`; none where it isn't declared. Puts its types into the table. */
export function expandMembers(context: FamilyContext): readonly NamespaceExpansion[] {
  const { declarations, tree } = context;
  const { tenancy, identity } = declarations;
  const declared = tenancy?.members;
  if (declared === undefined || identity === undefined) return [];
  const at = tree.at("tenancy", "members");
  const profile = context.of(documents).get(identity.sign_up?.profile ?? "");
  checkMembers(context, profile);
  addTypes(context, profile);
  const place = { family: "tenancy", spec: identitySpec, namespace: membersNamespace.name, at };
  const ofMembers = { ...place, handlers: "members" };
  const ofInvitations = { ...place, handlers: "invitations" };
  const readers = scopedGuard(context, signedIn, "members.read");
  const writers = scopedGuard(context, withSession, "members.write");
  const hasPasswords = methodsOf(identity).includes("password");
  const operations = [
    ...expandBuiltIn(context, { ...ofMembers, guard: readers }, memberReading),
    ...expandBuiltIn(context, { ...ofMembers, guard: writers }, memberWriting),
    ...expandBuiltIn(context, { ...ofInvitations, guard: readers }, invitationReading),
    ...expandBuiltIn(context, { ...ofInvitations, guard: writers }, invitationWriting),
    ...expandBuiltIn(context, { ...ofInvitations, guard: withSession }, [
      ...accepting,
      ...(hasPasswords ? [registerVerb(profile)] : []),
    ]),
  ];
  return builtInNamespace(membersNamespace, at, operations, {
    path: ["tenancy", "members", "mount"],
    declared: declared.mount,
    usual: "/members",
  });
}

/** The guard with a credential of a tenant, and a permission there. */
function scopedGuard(
  context: FamilyContext,
  { policy, hooks }: BuiltInGuard,
  action: string,
): BuiltInGuard {
  const { declarations, tree } = context;
  const tenant = builtInHook("tenant", declarations)?.hook;
  const stored = askFor(context, action, tree.at("tenancy", "members"));
  return {
    policy: `${policy} with ${action}`,
    hooks: [...hooks, ...(tenant === undefined ? [] : [tenant]), authorizeHook(action, stored)],
  };
}

function addTypes(
  { declarations, tree, types }: FamilyContext,
  profile: DocumentModel | undefined,
): void {
  const { roles, tenancy } = declarations;
  const at = tree.at("tenancy", "members");
  const shows = tenancy?.members?.shows ?? [];
  types.table.add("TenantRole", { type: "string", enum: Object.keys(roles) }, at);
  types.table.addShared("TenantCreated", tenantCreated, at);
  const entry = { principal_id: uuidSchema, login: { type: "string" } as const, roles: roleList };
  const shown =
    profile === undefined || shows.length === 0
      ? {}
      : { profile: profileSchema(types, profile, shows) };
  const member = { ...entry, ...shown };
  types.table.add("TenantMember", objectSchema(member, Object.keys(member)), at);
  const page = {
    members: { type: "array", items: refTo("TenantMember") },
    has_more: { type: "boolean" },
  } as const;
  types.table.add("TenantMemberPage", objectSchema(page, ["members", "has_more"]), at);
  const invitation = {
    invitation_id: uuidSchema,
    login: { type: "string" } as const,
    roles: roleList,
    invited_by: uuidSchema,
    created_at: time,
    expires_at: time,
  };
  types.table.add("TenantInvitation", objectSchema(invitation, Object.keys(invitation)), at);
  const list = { invitations: { type: "array", items: refTo("TenantInvitation") } } as const;
  types.table.add("TenantInvitationList", objectSchema(list, ["invitations"]), at);
}

/** What members see of each other's profiles. */
function profileSchema(
  types: FamilyContext["types"],
  { typeName }: DocumentModel,
  shows: readonly string[],
): JsonSchema {
  const properties = propertiesOf(types.table.schemas.get(typeName) ?? true);
  const members = Object.fromEntries(
    Object.entries(properties).filter(([name]) => shows.includes(name)),
  );
  return {
    anyOf: [objectSchema(members, []), { type: "null" }],
    description: "Null for a member without a profile.",
  };
}

/** Reports members without what they need. */
function checkMembers(context: FamilyContext, profile: DocumentModel | undefined): void {
  const { declarations, tree, report, types } = context;
  const { outbox, tenancy } = declarations;
  const at = tree.at("tenancy", "members");
  const roles = Object.values(context.of(identityFamily)?.roles ?? {});
  const gives = roles.some((role) => role.gives.length > 0);
  if (!gives)
    report({
      code: "OPW108",
      message: "members need a role with `gives`: nobody could give one",
      at,
    });
  if (!Object.hasOwn(outbox?.events ?? {}, invitedEvent))
    report({
      code: "OPW057",
      message: `the outbox has no event ${invitedEvent}, so nobody would get the token`,
      at,
    });
  const shows = tenancy?.members?.shows ?? [];
  const fields =
    profile === undefined
      ? []
      : Object.keys(propertiesOf(types.table.schemas.get(profile.typeName) ?? true));
  for (const [index, field] of shows.entries()) {
    if (fields.includes(field)) continue;
    const message =
      profile === undefined
        ? "members have no profile to show: `identity.sign_up.profile` names none"
        : `${profile.name} has no field ${field}`;
    report({
      code: "OPW014",
      message,
      at: tree.at("tenancy", "members", "shows", index),
      suggestion: didYouMean(field, fields),
    });
  }
}
