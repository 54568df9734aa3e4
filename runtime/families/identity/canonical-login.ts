// How logins are stored and compared.

/** The one form of a login: NFKC, lower case, no space around it. */
export function canonicalLogin(login: string): string {
  return login.normalize("NFKC").toLowerCase().trim();
}
