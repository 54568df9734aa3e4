// Registering by oneself, where `identity.sign_up` is declared: its operations, and the document
// that a principal gets.
import { durationSeconds } from "../../load/quantities.js";
import { didYouMean } from "../../diagnostics/did-you-mean.js";
import type { Finding } from "../../diagnostics/diagnostics.js";
import { refTo, type JsonSchema } from "../../model/json-schema.js";
import { errorsOfVisible } from "../documents/members/visible.js";
import type { DocumentModel } from "../../model/document-model.js";
import type { SignUpModel } from "../../model/identity-model.js";
import { bodyOf, expandBuiltIn, signedIn, type BuiltInVerb } from "../../kernel/built-in.js";
import { isLeftOut } from "../../kernel/left-out.js";
import {
  credentialText,
  emailText,
  newLoginText,
  newPasswordText,
} from "../../kernel/credentials.js";
import type { FamilyContext, UnmountedOperation } from "../../kernel/family.js";
import { documents } from "../documents/index.js";
import { identitySpec } from "./spec.js";

/** How people register; null if nobody does. Reports a profile that cannot be one. */
export function signUpModel(context: FamilyContext): SignUpModel | null {
  const declared = context.declarations.identity?.sign_up;
  if (declared === undefined) return null;
  const { verify, profile = null, ttl = "24h" } = declared;
  if (profile !== null) checkProfile(context, profile);
  return { verify, profile, ttlSeconds: durationSeconds(ttl) };
}

/** The document that is made with each principal, where there is one. */
function profileOf(context: FamilyContext): DocumentModel | undefined {
  return context.of(documents).get(context.declarations.identity?.sign_up?.profile ?? "");
}

function checkProfile(context: FamilyContext, name: string): void {
  const { declarations, tree, report } = context;
  const at = tree.at("identity", "sign_up", "profile");
  const document = profileOf(context);
  const refuse = (message: string, suggestion?: Finding["suggestion"]): void =>
    report({ code: "OPW014", message, at, suggestion });
  if (document === undefined) {
    const names = Object.keys(declarations.documents);
    // A document whose own declaration is faulty has been reported.
    if (!names.includes(name) && !isLeftOut(context, name, "documents"))
      refuse(`there is no document ${name}`, didYouMean(name, names));
    return;
  }
  if (
    !document.unique.some((rule) => rule.where === undefined && rule.fields.join() === "owner_id")
  )
    refuse(`${name} needs \`unique: [[owner_id]]\`: nobody has two profiles`);
  if (declarations.documents[name]?.read_only === true)
    refuse(`${name} is \`read_only\`, and a profile is written by who registers`);
  if (declarations.tenancy !== undefined && document.tenant)
    refuse(`${name} needs \`tenant: false\`: who registers is in no tenant yet`);
}

function signUpVerb(login: JsonSchema, profile: DocumentModel | undefined) {
  const ofProfile = profile === undefined ? {} : { profile: refTo(profile.createTypeName) };
  return {
    ...(profile === undefined ? {} : { adds: profile.name }),
    takesSpec: true,
    isWrite: false,
    ignoresCredentials: true,
    body: bodyOf({ login, password: newPasswordText, ...ofProfile }),
    // Addresses and profiles are of people: the log names the principal alone.
    audit: [],
  } as const;
}

const refusals = ["core.throttled"];

/** Refusals, and what stands against the profile of somebody new. */
function profileErrors(profile: DocumentModel | undefined): readonly string[] {
  const ofProfile = profile === undefined ? [] : errorsOfVisible(profile);
  return [...refusals, "unique_violation", ...ofProfile];
}

const verbsOf = {
  none: (profile: DocumentModel | undefined): readonly BuiltInVerb[] => [
    {
      ...signUpVerb(newLoginText, profile),
      name: "sign_up",
      handler: "signUp",
      summary: "Register and sign in",
      route: ["POST", "/sign-up"],
      status: 201,
      output: "TokenResponse",
      errors: profileErrors(profile),
    },
  ],
  email: (profile: DocumentModel | undefined): readonly BuiltInVerb[] => [
    {
      ...signUpVerb(emailText, profile),
      name: "sign_up",
      handler: "requestSignUp",
      summary: "Register, and get a token by mail that ends it",
      route: ["POST", "/sign-up"],
      status: 202,
      output: null,
      errors: profile === undefined ? refusals : profileErrors(profile),
    },
    {
      name: "resend_sign_up",
      handler: "resendSignUp",
      summary: "Get another token by mail for a registration that has not ended",
      route: ["POST", "/sign-up/resend"],
      status: 202,
      takesSpec: true,
      isWrite: false,
      ignoresCredentials: true,
      body: bodyOf({ login: credentialText }),
      output: null,
      errors: refusals,
    },
    {
      name: "verify_sign_up",
      handler: "verifySignUp",
      summary: "End a registration with its token",
      route: ["POST", "/sign-up/verify"],
      status: 204,
      takesSpec: true,
      isWrite: true,
      ignoresCredentials: true,
      body: bodyOf({ token: credentialText }),
      output: null,
      errors: ["core.authentication", ...profileErrors(profile)],
    },
  ],
};

/** Operations of `authn`. */
export function expandSignUp(context: FamilyContext): readonly UnmountedOperation[] {
  const declared = context.declarations.identity?.sign_up;
  if (declared === undefined) return [];
  const at = context.tree.at("identity", "sign_up");
  const place = {
    family: "identity",
    handlers: "signUp",
    spec: identitySpec,
    namespace: "authn",
    at,
    guard: signedIn,
  } as const;
  return expandBuiltIn(context, place, verbsOf[declared.verify](profileOf(context)));
}

/** What says of the caller which profile it has; nothing where people have none. */
export function profileMember(context: FamilyContext): Readonly<Record<string, JsonSchema>> {
  const profile = profileOf(context);
  if (profile === undefined) return {};
  const description = "Null for a principal that was made without one.";
  return { profile: { anyOf: [refTo(profile.typeName), { type: "null" }], description } };
}
