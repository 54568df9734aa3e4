// People for acceptance tests: principals, members of tenants, and requests in their names.
import { expect } from "vitest";
import { identitySpec } from "../../generated/identity.js";
import { issueSession, type TokenResponse } from "../../runtime/families/identity/operations.js";
import type { IdentitySpec } from "../../runtime/families/identity/spec.js";
import { uuidv7 } from "../../runtime/ports/uuid.js";
import { addPrincipal } from "./principals.js";
import type { Answer, TestService } from "./service.js";
import { tenantStore } from "../../runtime/ports/tenants.js";

export { password } from "./principals.js";

export interface Person {
  readonly id: string;
  readonly login: string;
}

export interface Member extends Person {
  readonly tenantId: string;
  /** Scoped to the tenant. */
  readonly token: string;
}

/** Somebody who calls the service. */
export interface Somebody {
  call(method: string, path: string, body?: object): Promise<Answer>;
  /** Creates a document below a path, and resolves with its id. */
  make(path: string, body: object): Promise<string>;
}

export interface People {
  /** A new principal, with permissions everywhere where some are given. */
  person(...everywhere: readonly string[]): Promise<Person>;
  /** A new tenant. */
  tenant(): Promise<string>;
  /** A new principal that is a member of the tenant (a new one where it is ""), with permissions there. */
  member(tenantId: string, ...permissions: readonly string[]): Promise<Member>;
  grant(tenantId: string | null, subject: string, permission: string): Promise<void>;
  /** A token pair of a new session. */
  session(principalId: string, tenantId: string | null, actorId?: string): Promise<TokenResponse>;
  /** A request with a bearer token. */
  as(token: string, method: string, path: string, body?: unknown): Promise<Answer>;
  /** Whoever has the bearer token. */
  by(token: string): Somebody;
}

type Connection = TestService["running"]["connection"];

let names = 0;

/**
 * People of a running service, of the reference service or another; they are made in its database, not over HTTP.
 */
export function peopleOf(service: TestService, spec: IdentitySpec = identitySpec): People {
  // The connection of the moment: the service may start anew.
  const write: Connection["write"] = (...given) => service.running.connection.write(...given);
  const session: People["session"] = (principalId, tenant, actorId) =>
    write("test.session", (within) =>
      issueSession(spec, within, {
        principalId,
        tenant,
        ...(actorId === undefined ? {} : { actorId }),
      }),
    );
  const grant: People["grant"] = (tenantId, subject, permission) =>
    write("test.grant", ({ transaction }) =>
      transaction.of(tenantStore).grant(tenantId, subject, permission),
    );
  const person: People["person"] = async (...everywhere) => {
    const login = `person${(names += 1)}@example.test`;
    const id = await addPrincipal(service.running.connection, login);
    for (const permission of everywhere) await grant(null, id, permission);
    return { id, login };
  };
  const tenant: People["tenant"] = async () => {
    const id = uuidv7();
    await write("test.tenant", ({ transaction }) =>
      transaction.of(tenantStore).addTenant({ id, key: `tenant${(names += 1)}`, isActive: true }),
    );
    return id;
  };
  const as: People["as"] = (token, method, path, body) =>
    service.call(method, path, {
      headers: { authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body }),
    });
  return {
    session,
    grant,
    person,
    tenant,
    as,
    by: (token) => ({
      call: (method, path, body) => as(token, method, path, body),
      async make(path, body) {
        const answer = await as(token, "POST", `/${path}`, body);
        expect([answer.status, JSON.stringify(answer.body)]).toEqual([201, expect.anything()]);
        return answer.body.id;
      },
    }),
    async member(given, ...permissions) {
      const made = await person();
      const tenantId = given === "" ? await tenant() : given;
      await write("test.member", ({ transaction }) =>
        transaction.of(tenantStore).addMember(tenantId, made.id),
      );
      for (const permission of permissions) await grant(tenantId, made.id, permission);
      const { access_token: token } = await session(made.id, tenantId);
      return { ...made, tenantId, token };
    },
  };
}
