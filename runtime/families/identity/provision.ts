// Making principals: for seeds and for the command that gives the first one.
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import { recordCall } from "../../operations/recorded.js";
import { uuidv7 } from "../../ports/uuid.js";
import { canonicalLogin } from "./canonical-login.js";
import { hashPassword } from "./passwords.js";
import { identityStore } from "../../ports/identity.js";

/**
 * Adds an active principal with a login and returns its id. Throws `core.conflict` if the login
 * is taken.
 */
export async function createPrincipal(
  context: ExecutionContext,
  given: { readonly login: string; readonly password: string },
): Promise<string> {
  const login = canonicalLogin(given.login);
  if (login === "") {
    throw fail("core.validation", {
      errors: [{ path: "/login", keyword: "minLength", message: "must not be empty" }],
    });
  }
  const { password } = given;
  const passwordHash = await hashPassword(context, { password, login, at: "/password" });
  const id = uuidv7();
  const added = await context.transact(async (transaction) => {
    recordCall(context, { principal_id: id });
    const principal = { id, login, passwordHash, isActive: true };
    return transaction.of(identityStore).addPrincipal(principal);
  });
  if (!added) throw fail("core.conflict", { reason: "the login is taken" });
  return id;
}
