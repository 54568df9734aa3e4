// `node server.js create-principal LOGIN [--grant PERMISSION]…`: how a service gets its first administrator.
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { fail } from "../../contract/errors.js";
import { permissionPattern } from "../../contract/permissions.js";
import type { ServiceCommand, ServiceAtWork } from "../../operations/family.js";
import { tenantStore } from "../../ports/tenants.js";
import { createPrincipal } from "./provision.js";

/** The command; stdin gives the password. */
export const createPrincipalCommand: ServiceCommand = {
  name: "create-principal",
  usage: "LOGIN [--grant PERMISSION]…",
  read(args) {
    const given = readArguments(args);
    return given && ((service) => provision(service, given, process.stdin));
  },
};

/** The principal that the command creates, and the permissions that it holds everywhere. */
interface NewPrincipal {
  readonly login: string;
  readonly permissions: readonly string[];
}

/** What the command line asks for, or null where it is not well formed. */
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
 * Adds a principal with the password that stdin gives (without its last line break) and permissions that hold
 * everywhere; returns its id. Throws `core.conflict` where the login is taken and `core.validation` for the password or
 * a permission; then no principal is created.
 */
async function provision(
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
  await write("principals.grant_permission", async ({ transaction }) => {
    for (const permission of permissions)
      await transaction.of(tenantStore).grant(null, id, permission);
  });
  return id;
}
