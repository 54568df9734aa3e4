// The people of a test: principals and tenants by name, created when they are first named, and
// signed in without a password.
import { grantsOf } from "../families/identity/grants.js";
import { createPrincipal } from "../families/identity/provision.js";
import { issueSession, type TokenResponse } from "../families/identity/operations.js";
import type { IdentitySpec } from "../families/identity/spec.js";
import { uuidv7 } from "../ports/uuid.js";
import { identityStore } from "../ports/identity.js";
import { tenantStore } from "../ports/tenants.js";
import { defaultTenant } from "../contract/default-tenant.js";
import type { ServiceConnection } from "../server/connect.js";

/** The tenant that somebody signs in to, and what they may do there. */
export interface Person {
  /**
   * The tenant, by any name; null signs in without one. In a service that has tenants, "test" if
   * left out.
   */
  readonly tenant?: string | null;
  /** Permissions and roles in that tenant; in a service without tenants, everywhere. */
  readonly permissions?: readonly string[];
  /** Permissions and roles that hold in every tenant, such as those that administer them. */
  readonly everywhere?: readonly string[];
  /**
   * Only for tests that sign in by password, since hashing takes time. Only counts when the name is
   * first used.
   */
  readonly password?: string;
}

export interface SignedInPerson {
  readonly principalId: string;
  /** Null without a tenant. */
  readonly tenantId: string | null;
  readonly tokens: TokenResponse;
}

export interface People {
  /**
   * Signs somebody in, in a new session. Throws if the service has no identity, or no tenants
   * although one is given.
   */
  signIn(name: string, person: Person): Promise<SignedInPerson>;
  /**
   * The id of a tenant by its name, or by that id; in a service without tenants, the one of all
   * rows.
   */
  tenantId(name: string): Promise<string>;
}

/** The people of one service. */
export function peopleOf(
  connection: ServiceConnection,
  identity: IdentitySpec | undefined,
): People {
  const principals = new Map<string, Promise<string>>();
  const tenants = new Map<string, Promise<string>>();

  const principal = (name: string, password: string | undefined): Promise<string> =>
    once(principals, name, async () => {
      const login = loginOf(name);
      if (password !== undefined)
        return createPrincipal(connection.context("test.person"), { login, password });
      const id = uuidv7();
      // An empty hash stands for no password.
      await connection.write("test.person", ({ transaction }) =>
        transaction.of(identityStore).addPrincipal({ id, login, passwordHash: "", isActive: true }),
      );
      return id;
    });
  const tenantId = async (key: string): Promise<string> => {
    if (identity?.hasTenancy !== true) return defaultTenant;
    for (const known of tenants.values()) if ((await known) === key) return key;
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
        const grants = grantsOf(identity, context);
        for (const permission of permissions) await grants.grant(scope, principalId, permission);
        for (const permission of everywhere) await grants.grant(null, principalId, permission);
        return issueSession(identity, context, { principalId, tenant: scope });
      });
      return { principalId, tenantId: scope, tokens };
    },
  };
}

/** The login of a name: `bob` has `bob@example.test`; a name with an @ is a login already. */
function loginOf(name: string): string {
  return name.includes("@") ? name : `${name}@example.test`;
}

/**
 * Makes the value of a key once, for all who ask for it. After a failure the next call tries again.
 */
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
