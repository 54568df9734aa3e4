// People of a test: principals and tenants by name, made when they are first named, and signed in without a password.
import { createPrincipal } from "../families/identity/provision.js";
import { issueSession, type TokenResponse } from "../families/identity/operations.js";
import type { IdentitySpec } from "../families/identity/spec.js";
import { uuidv7 } from "../contract/uuid.js";
import { identityStore } from "../ports/identity.js";
import { tenantStore } from "../ports/tenants.js";
import { defaultTenant, type Connection } from "../server/connect.js";

/** Who somebody is, and what may be done in that name. */
export interface Person {
  /** The tenant, by a name of the test's; null signs in without one. "test" where left out, in a service that has tenants. */
  readonly tenant?: string | null;
  /** Permissions and roles in that tenant; in a service without tenants, everywhere. */
  readonly permissions?: readonly string[];
  /** Permissions and roles that hold in every tenant, such as those that administer them. */
  readonly everywhere?: readonly string[];
  /** Only for tests that sign in by password; hashing takes its time. Counts when the name is used first. */
  readonly password?: string;
}

export interface SignedIn {
  readonly principalId: string;
  /** Null without a tenant. */
  readonly tenantId: string | null;
  readonly tokens: TokenResponse;
}

export interface People {
  /** Signs somebody in, in a session of its own. */
  signIn(name: string, person: Person): Promise<SignedIn>;
  /** The id of a tenant by its name; that of all rows in a service without tenants. */
  tenantId(name: string): Promise<string>;
}

/** The people of one service. */
export function peopleOf(connection: Connection, identity: IdentitySpec | undefined): People {
  const principals = new Map<string, Promise<string>>();
  const tenants = new Map<string, Promise<string>>();

  const principal = (name: string, password: string | undefined): Promise<string> =>
    once(principals, name, async () => {
      const login = loginOf(name);
      if (password !== undefined)
        return createPrincipal(connection.context("test.person"), { login, password });
      const id = uuidv7();
      // No password has an empty hash.
      await connection.write("test.person", ({ transaction }) =>
        transaction.of(identityStore).addPrincipal({ id, login, passwordHash: "", isActive: true }),
      );
      return id;
    });
  const tenantId = async (key: string): Promise<string> => {
    if (identity?.hasTenancy !== true) return defaultTenant;
    return once(tenants, key, async () => {
      const id = uuidv7();
      await connection.write("test.tenant", ({ transaction }) =>
        transaction.of(tenantStore).addTenant({ id, key, isActive: true }),
      );
      return id;
    });
  };

  return {
    tenantId,
    async signIn(name, { tenant, permissions = [], everywhere = [], password }) {
      if (identity === undefined)
        throw new Error("this service has no identity, so nobody signs in: use client() instead");
      if (tenant !== undefined && !identity.hasTenancy)
        throw new Error("this service has no tenants: leave `tenant` out");
      const principalId = await principal(name, password);
      const isScoped = identity.hasTenancy && tenant !== null;
      const scope = isScoped ? await tenantId(tenant ?? "test") : null;
      const tokens = await connection.write("test.sign_in", async (context) => {
        const store = context.transaction.of(tenantStore);
        if (scope !== null) await store.addMember(scope, principalId);
        for (const permission of permissions) await store.grant(scope, principalId, permission);
        for (const permission of everywhere) await store.grant(null, principalId, permission);
        return issueSession(identity, context, { principalId, tenant: scope });
      });
      return { principalId, tenantId: scope, tokens };
    },
  };
}

/** `bob` is `bob@example.test`; what has an @ is a login already. */
function loginOf(name: string): string {
  return name.includes("@") ? name : `${name}@example.test`;
}

/** The same value for all who ask by one key; one that failed is made anew. */
function once<Value>(
  known: Map<string, Promise<Value>>,
  key: string,
  make: () => Promise<Value>,
): Promise<Value> {
  const made = known.get(key) ?? make();
  known.set(key, made);
  made.catch(() => known.delete(key));
  return made;
}
