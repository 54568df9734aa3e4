// Tokens that reach people by mail, and come back: what is stored of them is a digest.
import type { ExecutionContext } from "../../operations/context.js";
import { drawBytes } from "../../ports/ambient.js";
import { identityResources } from "./resources.js";

/** A new token of 32 random bytes, and the digest under which it is stored for a purpose. */
export function newMailedToken(
  { resources }: ExecutionContext,
  purpose: string,
): { readonly token: string; readonly digest: string } {
  const token = drawBytes(32).toString("base64url");
  const digest = resources.of(identityResources).reset.sign(purpose, token).toString("base64url");
  return { token, digest };
}

/** The digests under which a token may be stored: one for each pepper that is known. */
export function mailedDigests(
  { resources }: ExecutionContext,
  purpose: string,
  token: string,
): readonly string[] {
  return resources
    .of(identityResources)
    .reset.all(purpose, token)
    .map((digest) => digest.toString("base64url"));
}
