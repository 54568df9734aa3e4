// `node server.js create-principal LOGIN [--grant PERMISSION]…`: how a service gets its first
// administrator.
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { fail } from "../../contract/errors.js";
import { permissionPattern } from "../../contract/permissions.js";
import type { ServiceCommand, ServiceAtWork } from "../../operations/family.js";
import { grantsOf } from "./grants.js";
import { createPrincipal } from "./provision.js";
import type { IdentitySpec } from "./spec.js";

/** The command; stdin gives the password. */
export const createPrincipalCommand = (spec: IdentitySpec): ServiceCommand => ({
  name: "create-principal",
  usage: "LOGIN [--grant PERMISSION]…",
  read(args) {
    const given = readArguments(args);
    return given && ((service) => provision(spec, service, given, process.stdin));
  },
});

/** The principal that the command creates, and the permissions that it holds everywhere. */
interface NewPrincipal {
  readonly login: string;
  readonly permissions: readonly string[];
}

/** What the command line asks for, or null if it is not well formed. */
function readArguments(args: readonly string[]): NewPrincipal | null {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { grant: { type: "string", multiple: true } },
    });
    const [login] = positionals;
    return login === undefined || positionals.length > 1
      ? null
      : { login, permissions: values.grant ?? [] };
  } catch {
    return null;
  }
}

/**
 * Adds a principal with the password that stdin gives (without its last line break) and permissions
 * that hold everywhere; returns its id. Throws `core.conflict` if the login is taken and
 * `core.validation` for the password or a permission; then no principal is created.
 */
async function provision(
  spec: IdentitySpec,
  { context, write }: ServiceAtWork,
  given: NewPrincipal,
  input: NodeJS.ReadableStream,
): Promise<string> {
  const { login, permissions } = given;
  const wrong = permissions.find((permission) => !new RegExp(permissionPattern).test(permission));
  if (wrong !== undefined) {
    const message = `${JSON.stringify(wrong)} is no permission such as tasks.read, admin or role:editor`;
    throw fail("core.validation", { errors: [{ path: "/grant", keyword: "pattern", message }] });
  }
  const password = (await text(input)).replace(/\r?\n$/, "");
  const id = await createPrincipal(context("principals.create_principal"), { login, password });
  await write("principals.grant_permission", async (within) => {
    for (const permission of permissions) await grantsOf(spec, within).grant(null, id, permission);
  });
  return id;
}
