// Principals of tests, put into the database with one hash of one password: hashes are slow on purpose, and most tests make
// people and never sign in with a password.
import { rehashPassword } from "../../runtime/families/identity/passwords.js";
import { identityStore } from "../../runtime/ports/identity.js";
import { uuidv7 } from "../../runtime/ports/uuid.js";
import type { RunningService } from "../../runtime/server/start.js";

/** The password of everybody. */
export const password = "correct horse battery staple";

let hash: Promise<string> | undefined;

/** Adds an active principal whose password is `password`, and returns its id. */
export async function addPrincipal(
  { context, write }: Pick<RunningService["connection"], "context" | "write">,
  login: string,
): Promise<string> {
  const passwordHash = await (hash ??= rehashPassword(context("test.people"), password));
  const id = uuidv7();
  const isAdded = await write("test.people", ({ transaction }) =>
    transaction.of(identityStore).addPrincipal({ id, login, passwordHash, isActive: true }),
  );
  if (!isAdded) throw new Error(`${login} is taken`);
  return id;
}
