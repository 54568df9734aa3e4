// What members of a tenant may do for each other, and those who are invited: the tables of
// `members.*`.
import { objectSchema, refTo, uuidSchema, type JsonSchema } from "../../model/json-schema.js";
import { bodyOf, idInPath, type BuiltInVerb } from "../../kernel/built-in.js";
import { credentialText, emailText, newPasswordText } from "../../kernel/credentials.js";
import type { DocumentModel } from "../../model/document-model.js";
import type { ParameterModel } from "../../model/registry.js";

/** Names of roles, each once. */
export const roleList = {
  type: "array",
  items: refTo("TenantRole"),
  uniqueItems: true,
} as const satisfies JsonSchema;

const after: ParameterModel = {
  name: "after",
  in: "query",
  type: "uuid",
  required: false,
  schema: { ...uuidSchema, description: "The last id of the page before." },
};

/** For those who may see the members. */
export const memberReading: readonly BuiltInVerb[] = [
  {
    name: "list",
    handler: "list",
    summary: "List the members of the caller's tenant, 100 at once",
    route: ["GET", "/"],
    takesSpec: true,
    isWrite: false,
    parameters: [after],
    output: "TenantMemberPage",
    errors: [],
  },
];

/** For those who may see the members. */
export const invitationReading: readonly BuiltInVerb[] = [
  {
    name: "list_invitations",
    handler: "listInvitations",
    summary: "List the open invitations to the caller's tenant",
    route: ["GET", "/invitations"],
    takesSpec: true,
    isWrite: false,
    output: "TenantInvitationList",
    errors: [],
  },
];

/** For those who may change who is a member. */
export const memberWriting: readonly BuiltInVerb[] = [
  {
    name: "set_roles",
    handler: "setRoles",
    summary: "Give a member these roles and no others",
    route: ["PUT", "/{id}/roles"],
    status: 204,
    takesSpec: true,
    isWrite: true,
    parameters: [idInPath],
    body: bodyOf({ roles: roleList }),
    output: null,
    errors: ["core.not_found", "last_holder"],
  },
  {
    name: "remove",
    handler: "remove",
    summary: "End the membership of a member",
    route: ["DELETE", "/{id}"],
    status: 204,
    takesSpec: true,
    isWrite: true,
    parameters: [idInPath],
    output: null,
    errors: ["core.not_found", "last_holder"],
  },
  {
    name: "hand_over",
    handler: "handOver",
    summary: "Give a member the caller's roles, and keep others",
    route: ["POST", "/{id}/hand-over"],
    status: 204,
    takesSpec: true,
    isWrite: true,
    parameters: [idInPath],
    body: bodyOf({
      keep: { ...roleList, description: "The roles that the caller has afterwards." },
    }),
    output: null,
    errors: ["core.not_found", "core.conflict"],
  },
];

/** For those who may change who is a member. */
export const invitationWriting: readonly BuiltInVerb[] = [
  {
    name: "invite",
    handler: "invite",
    summary: "Invite somebody to the caller's tenant by mail",
    route: ["POST", "/invitations"],
    status: 201,
    takesSpec: true,
    isWrite: false,
    body: bodyOf({ login: emailText, roles: roleList }),
    output: "TenantInvitation",
    errors: ["core.conflict", "invitations_limit", "core.throttled"],
  },
  {
    name: "revoke_invitation",
    handler: "revokeInvitation",
    summary: "Take an invitation back",
    route: ["DELETE", "/invitations/{id}"],
    status: 204,
    takesSpec: true,
    isWrite: true,
    parameters: [idInPath],
    output: null,
    errors: ["core.not_found"],
  },
];

/** For somebody who is signed in and invited. */
export const accepting: readonly BuiltInVerb[] = [
  {
    name: "accept_invitation",
    handler: "acceptInvitation",
    summary: "Become a member by an invitation",
    route: ["POST", "/invitations/accept"],
    takesSpec: true,
    isWrite: true,
    body: bodyOf({ token: credentialText }),
    output: "TenantCreated",
    errors: ["core.not_found", "tenant_inactive"],
  },
];

/** For somebody who is invited and has no account yet, which may come with a profile. */
export function registerVerb(profile: DocumentModel | undefined): BuiltInVerb {
  const ofProfile = profile === undefined ? {} : { profile: refTo(profile.createTypeName) };
  const members = { token: credentialText, password: newPasswordText, ...ofProfile };
  return {
    name: "register",
    handler: "registerInvited",
    summary: "Register by an invitation, and sign in as a member",
    route: ["POST", "/invitations/register"],
    status: 201,
    takesSpec: true,
    isWrite: false,
    ignoresCredentials: true,
    tokens: "sign_in",
    ...(profile === undefined ? {} : { adds: profile.name }),
    body: { schema: objectSchema(members, Object.keys(members)), isOptional: false },
    // Profiles are of people: the log names the principal alone.
    audit: [],
    output: "TokenResponse",
    errors: ["core.not_found", "tenant_inactive", "unique_violation"],
  };
}
