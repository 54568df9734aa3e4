// Accounts, profiles, and who follows whom.
import { account, collection, outputValue, ServiceError, signIn, signUp } from "opwright/runtime";
import type { ExecutionContext } from "opwright/runtime";
import { followsSpec } from "../../generated/documents/follows.js";
import { profilesSpec } from "../../generated/documents/profiles.js";
import { fail } from "../../generated/errors.js";
import { identitySpec } from "../../generated/identity.js";
import type * as api from "../../generated/types/api.js";
import type { Profile, ProfilesDocument } from "../../generated/types/models.js";

export const register: api.ApiRegisterHandler = async ({ user }, context) => {
  const { password, ...profile } = user;
  const given = { login: user.email, password, profile };
  const { access_token: token } = outputValue(await signUp.signUp(identitySpec)(given, context));
  return { user: { ...profile, bio: null, image: null, token } };
};

export const login: api.ApiLoginHandler = async ({ user: { email, password } }, context) => {
  const given = { login: email, password };
  const { principalId, tokens } = await signIn(identitySpec, context, given).catch(invalid);
  const profile = await callersProfile(context.onBehalfOf(principalId));
  return { user: { ...profile, token: tokens.access_token } };
};

export const user: api.ApiUserHandler = async (_input, context) => {
  const token = await account.accessToken(context);
  return { user: { ...(await callersProfile(context)), token } };
};

export const updateUser: api.ApiUpdateUserHandler = async ({ user }, context) => {
  const { password, ...given } = user;
  const blank = Object.entries(given).filter(([, value]) => value === "");
  const patch = { ...given, ...Object.fromEntries(blank.map(([member]) => [member, null])) };
  const { id } = await callersProfile(context);
  const profile = await account.change({ login: user.email, password }, context, () =>
    collection(profilesSpec, context).update(id, "any", patch),
  );
  return { user: { ...profile, token: await account.accessToken(context) } };
};

export const profile: api.ApiProfileHandler = async ({ username }, context) => {
  const found = await profileOf({ filters: { $values: { username } } }, context);
  return { profile: (await profileView([found.id], context))(found) };
};

export const follow: api.ApiFollowHandler = async ({ username }, context) => {
  const { id: followed } = await profileOf({ filters: { $values: { username } } }, context);
  await collection(followsSpec, context).upsert(["follower", "followed"], { followed });
  return profile({ username }, context);
};

export const unfollow: api.ApiUnfollowHandler = async ({ username }, context) => {
  const follows = collection(followsSpec, context);
  const filters = { $values: { "followed.username": username } };
  await follows.deleteMany(await follows.find({ filters, own: true }));
  return profile({ username }, context);
};

/** The profile of who is calling. */
export function callersProfile(context: ExecutionContext): Promise<ProfilesDocument> {
  return profileOf({ own: true }, context);
}

/** Shows these profiles as the caller sees them. */
export async function profileView(ids: readonly string[], context: ExecutionContext) {
  const filters = { $values: { followed: ids } };
  const follows = await collection(followsSpec, context).find({ filters, own: true });
  return (one: ProfilesDocument | null | undefined): Profile => {
    if (!one) throw fail("unknown", { what: "profile" });
    return { ...one, following: follows.some(({ followed }) => followed === one.id) };
  };
}

async function profileOf(query: object, context: ExecutionContext): Promise<ProfilesDocument> {
  const found = await collection(profilesSpec, context).first(query);
  if (found === null) throw fail("unknown", { what: "profile" });
  return found;
}

function invalid(error: unknown): never {
  const isRefused = error instanceof ServiceError && error.code === "core.authentication";
  throw isRefused ? fail("invalid", { what: "credentials" }) : error;
}
