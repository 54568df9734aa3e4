// Keys that people know from other formats, and how a registry says it.
import { aliases } from "./aliases.js";
import type { OtherWord, OtherWords } from "./shape.js";

/** These keys, which stand in one text, are other words for a member. */
export const wordsFor = (member: string, keys: string): OtherWords => aliases({ member }, keys);

/** These keys are said in another way; by a member that then isn't missing, if there is one. */
export const saidBy = (hint: string, keys: string, member?: string): OtherWords => {
  const word: OtherWord = member === undefined ? { hint } : { hint, member };
  return aliases(word, keys);
};

/** Keys that say who may call. */
export const guardWords = saidBy(
  "Who may call is said by a policy, which `guard` names: `policies: {member: [principal]}`, `guard: member`.",
  "auth access permission permissions policy policies role roles security authorize public rules",
  "guard",
);

/** Keys that say where routes are. */
export const mountWords = saidBy(
  "Where the routes are is said by `mount`: `mount: {at: /todo}`.",
  "path route routes url prefix basePath endpoint",
  "mount",
);

/** Keys of documents that are something else. */
export const documentKeys = saidBy(
  "This is a registry, not an OpenAPI document: `generate` prints that one.",
  "openapi swagger asyncapi",
);

export const stepWords: OtherWords = {
  ...wordsFor("authorize", "authorise permission permissions can action"),
  ...wordsFor("rate_limit", "throttle limit rate"),
  ...wordsFor("scope", "rows filter scopes"),
  ...saidBy(
    "Roles have permissions, and a policy requires one of those: `{authorize: platform.admin}`.",
    "role roles hasRole group",
  ),
};

/** Steps of policies that others call otherwise. */
export const stepNames: Readonly<Record<string, string>> = {
  ...aliases("principal", "authenticated auth user login signed_in logged_in required caller"),
  ...aliases("tenant", "organization org workspace"),
};
