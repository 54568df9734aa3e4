// Another login or password for a principal, for handlers that let people edit their account.
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import { identityStore } from "../../ports/identity.js";
import { canonicalLogin } from "./canonical-login.js";
import { hashPassword } from "./passwords.js";

/**
 * Gives a principal another login, another password, or both. With a new password all of its sessions end, the calling one
 * too: `issueSession` begins another. Who may ask for it, and whether a new address is verified, is the caller's to settle.
 * Throws `core.not_found`, `unique_violation` with the member `login`, and `core.validation` for a password that is none.
 */
export async function changeCredentials(
  context: ExecutionContext,
  principalId: string,
  { login: given, password }: { readonly login?: string; readonly password?: string },
): Promise<void> {
  const principal = await context.transaction.of(identityStore).findPrincipal(principalId);
  if (principal === null) throw fail("core.not_found");
  const login = given === undefined ? principal.login : canonicalLogin(given);
  if (login === "") {
    const fault = { path: "/login", keyword: "minLength", message: "must not be empty" };
    throw fail("core.validation", { errors: [fault] });
  }
  const hash =
    password === undefined
      ? null
      : await hashPassword(context, { password, login, at: "/password" });
  await context.commit(async (transaction) => {
    const identity = transaction.of(identityStore);
    if (login !== principal.login && !(await identity.setLogin(principalId, login)))
      throw fail("unique_violation", { members: ["login"] });
    // A reset that was mailed to the login before, or asked for with the password before, is over.
    await identity.dropResetToken(principalId);
    if (hash === null) return;
    await identity.setPassword(principalId, hash);
    await identity.endSessions(principalId, context.clock.now());
    context.endsCredentials({ principalId });
  });
}
