// All that is kept of who may do what, as sets of lines: tenants, accounts, memberships, grants and
// API keys. Sessions, tokens and invitations are left out: people sign in again.
import { isDeepStrictEqual } from "node:util";
import { defaultTenant } from "../../contract/default-tenant.js";
import { permissionPattern } from "../../contract/permissions.js";
import { isUuid } from "../../contract/uuid.js";
import { differs, refuseLine, type AnyDataSet, type DataSet } from "../../operations/data-set.js";
import type { ServiceAtWork } from "../../operations/family.js";
import type { Transaction } from "../../ports/database.js";
import { identityStore, type Principal, type Subject } from "../../ports/identity.js";
import { walkPages } from "../../ports/pages.js";
import { tenantStore, type Tenant } from "../../ports/tenants.js";
import { membersOf } from "../../query/list-request.js";
import { canonicalLogin } from "./canonical-login.js";
import { apiKeySet } from "./data-api-keys.js";
import { addEach, allPrincipals, flagOf, inOrder, pageSize, textAt, uuidOf } from "./data-lines.js";

/** The sets of identity: what others name comes first. */
export function dataOfIdentity(service: ServiceAtWork): readonly AnyDataSet[] {
  return [
    tenantSet(service),
    accountSet(service),
    membershipSet(service),
    grantSet(service),
    apiKeySet(service),
  ];
}

/** Those of the keys that `find` finds. */
async function whichAre(
  keys: readonly string[],
  find: (key: string) => Promise<unknown>,
): Promise<ReadonlySet<string>> {
  const known = new Set<string>();
  for (const key of keys) if ((await find(key)) !== null) known.add(key);
  return known;
}

function tenantSet(service: ServiceAtWork): DataSet<Tenant> {
  const store = () => service.database.reader.of(tenantStore);
  return {
    name: "tenants",
    async *lines() {
      for (const { id, key, isActive } of await allTenants(service))
        yield JSON.stringify({ id, key, ...(isActive ? {} : { is_active: false }) });
    },
    read(value, naming) {
      const line = membersOf(value, "", ["id", "key", "is_active"]);
      const id = textAt(line, "id");
      if (id.includes("/")) return refuseLine("/id", "pattern", "must have no slash");
      naming.note("tenants", id);
      return { id, key: textAt(line, "key"), isActive: flagOf(line, "is_active") };
    },
    known: (keys) => whichAre(keys, (id) => store().findTenant(id)),
    add: (lines) =>
      addEach(service, lines, async (tenant, transaction) => {
        const tenants = transaction.of(tenantStore);
        const is = await tenants.findTenant(tenant.id);
        if (is === null) {
          if (await tenants.addTenant(tenant)) return true;
          throw differs(`the tenant ${tenant.key}`);
        }
        if (is.key !== tenant.key || is.isActive !== tenant.isActive)
          throw differs(`the tenant ${tenant.id}`);
        return false;
      }),
  };
}

/** All tenants, in the order of their ids. */
async function allTenants({ database }: ServiceAtWork): Promise<readonly Tenant[]> {
  const tenants: Tenant[] = [];
  const pages = walkPages(
    pageSize,
    (after: string | null) =>
      database.reader.of(tenantStore).listTenants(after ?? undefined, pageSize),
    ({ key }) => key,
  );
  for await (const tenant of pages) tenants.push(tenant);
  return tenants.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

/** A line of a principal, with the names that other issuers have for it. */
interface AccountLine extends Principal {
  readonly subjects: readonly Subject[];
}

function accountSet(service: ServiceAtWork): DataSet<AccountLine> {
  const store = () => service.database.reader.of(identityStore);
  return {
    name: "accounts",
    async *lines() {
      for await (const { id, login, passwordHash, isActive } of allPrincipals(service)) {
        const subjects = await subjectsOf(service.database.reader, id);
        yield JSON.stringify({
          id,
          login,
          ...(passwordHash === "" ? {} : { password_hash: passwordHash }),
          ...(isActive ? {} : { is_active: false }),
          ...(subjects.length === 0 ? {} : { subjects }),
        });
      }
    },
    read(value, naming) {
      const line = readAccount(value);
      naming.note("accounts", line.id);
      return line;
    },
    known: (keys) => whichAre(keys.filter(isUuid), (id) => store().findPrincipal(id)),
    add: (lines) =>
      addEach(service, lines, async ({ subjects, ...principal }, transaction) => {
        const identities = transaction.of(identityStore);
        const is = await identities.findPrincipal(principal.id);
        if (is === null && !(await identities.addPrincipal(principal)))
          throw differs(`the account ${principal.login}`);
        for (const subject of is === null ? subjects : [])
          if (!(await identities.addSubject(subject, principal.id)))
            throw differs(`the subject ${subject.subject}`);
        if (is === null) return true;
        const there = { ...is, subjects: await subjectsOf(transaction, principal.id) };
        if (!isSame(there, { ...principal, subjects }))
          throw differs(`the account ${principal.id}`);
        return false;
      }),
  };
}

/** Whether an account is as its line says; a password that the line leaves out is no difference. */
function isSame(there: AccountLine, said: AccountLine): boolean {
  return (
    there.login === said.login &&
    there.isActive === said.isActive &&
    (said.passwordHash === "" || said.passwordHash === there.passwordHash) &&
    isDeepStrictEqual(there.subjects, said.subjects)
  );
}

function readAccount(value: unknown): AccountLine {
  const members = ["id", "login", "password_hash", "is_active", "subjects"];
  const line = membersOf(value, "", members);
  const id = uuidOf(line, "id");
  const login = textAt(line, "login");
  const isActive = flagOf(line, "is_active");
  // Of somebody who was erased an id is left, with a login that nobody can have.
  const isErased = login === `Erased ${id}` && !isActive;
  if (!isErased && login !== canonicalLogin(login))
    return refuseLine("/login", "pattern", `must be ${JSON.stringify(canonicalLogin(login))}`);
  const { password_hash: passwordHash = "" } = line;
  if (typeof passwordHash !== "string" || (passwordHash !== "" && !isVerifiable(passwordHash)))
    return refuseLine("/password_hash", "pattern", phcRule);
  return { id, login, isActive, passwordHash, subjects: readSubjects(line["subjects"] ?? []) };
}

const phcRule =
  "must be a PHC string of argon2id, of at most 1 GiB (m=1048576), 16 passes and 16 lanes";

/** Whether a password can be checked with a hash, and in bounded time and memory. */
function isVerifiable(hash: string): boolean {
  const parts =
    /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{22,86}$/.exec(
      hash,
    );
  const [kibibytes = 0, passes = 0, lanes = 0] = (parts ?? []).slice(1).map(Number);
  const isBounded = kibibytes <= 1_048_576 && passes <= 16 && lanes <= 16;
  return isBounded && lanes >= 1 && passes >= 1 && kibibytes >= 8 * lanes;
}

function readSubjects(value: unknown): readonly Subject[] {
  if (!Array.isArray(value)) return refuseLine("/subjects", "type", "must be array");
  const subjects = value.map((one: unknown, at): Subject => {
    const { issuer, subject } = membersOf(one, `/subjects/${at}`, ["issuer", "subject"]);
    if (typeof issuer !== "string" || typeof subject !== "string")
      return refuseLine(`/subjects/${at}`, "type", "must have an issuer and a subject");
    return { issuer, subject };
  });
  return inOrder(subjects);
}

async function subjectsOf(transaction: Transaction, id: string): Promise<readonly Subject[]> {
  const subjects = await transaction.of(identityStore).listSubjects(id);
  return inOrder(subjects.map(({ issuer, subject }) => ({ issuer, subject })));
}

interface MembershipLine {
  readonly tenant: string;
  readonly principalId: string;
}

function membershipSet(service: ServiceAtWork): DataSet<MembershipLine> {
  return {
    name: "memberships",
    async *lines() {
      for (const { id } of await allTenants(service))
        for (const member of await service.database.reader.of(tenantStore).listMembers(id))
          yield JSON.stringify({ tenant_id: id, principal_id: member });
    },
    read(value, naming) {
      const line = membersOf(value, "", ["tenant_id", "principal_id"]);
      const tenant = textAt(line, "tenant_id");
      const principalId = uuidOf(line, "principal_id");
      naming.expect("tenants", tenant, "/tenant_id");
      naming.expect("accounts", principalId, "/principal_id");
      return { tenant, principalId };
    },
    add: (lines) =>
      addEach(service, lines, async ({ tenant, principalId }, transaction) => {
        const tenants = transaction.of(tenantStore);
        if (await tenants.isMember(tenant, principalId)) return false;
        await tenants.addMember(tenant, principalId);
        return true;
      }),
  };
}

interface GrantLine {
  readonly tenant: string | null;
  readonly subject: string;
  readonly permission: string;
}

function grantSet(service: ServiceAtWork): DataSet<GrantLine> {
  return {
    name: "grants",
    async *lines() {
      const tenants = (await allTenants(service)).map(({ id }) => id);
      for (const tenant of [null, ...new Set([defaultTenant, ...tenants])]) {
        const grants = await service.database.reader.of(tenantStore).listAllGrants(tenant);
        const whose = tenant === null ? {} : { tenant_id: tenant };
        yield* grants.map((grant) => JSON.stringify({ ...whose, ...grant })).toSorted();
      }
    },
    read(value, naming) {
      const line = membersOf(value, "", ["tenant_id", "subject", "permission"]);
      const tenant = line["tenant_id"] === undefined ? null : textAt(line, "tenant_id");
      if (tenant !== null && tenant !== defaultTenant)
        naming.expect("tenants", tenant, "/tenant_id");
      const said = textAt(line, "subject");
      const isRole = said.startsWith("role:");
      const subject = isRole ? said : uuidOf(line, "subject");
      if (!isRole) naming.expect("accounts", subject, "/subject");
      const permission = textAt(line, "permission");
      if (!new RegExp(permissionPattern).test(permission))
        return refuseLine("/permission", "pattern", "must be a permission such as tasks.read");
      return { tenant, subject, permission };
    },
    add: (lines) =>
      addEach(service, lines, async ({ tenant, subject, permission }, transaction) => {
        const tenants = transaction.of(tenantStore);
        if ((await tenants.listGrants(tenant, subject)).includes(permission)) return false;
        await tenants.grant(tenant, subject, permission);
        return true;
      }),
  };
}
