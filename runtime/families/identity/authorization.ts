// The hooks of authorization, bound once to who decides and to the permissions that override
// (service.md "Authorization per operation").
import { fail } from "../../contract/errors.js";
import type { DocumentSpec } from "../../ports/document-spec.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { PhaseHook } from "../../operations/hooks.js";
import { callerOf, subjectsOf } from "../../operations/identity.js";
import { isObject } from "../../contract/json-pointer.js";
import { everything, type Filter } from "../../query/ast.js";
import { parseFilter } from "../../query/parse-filter.js";
import { allVisible, within } from "../../query/relations.js";
import { storedAs, type FormerPermissions } from "./former-permissions.js";
import { unchanged } from "./grants.js";
import { rolesPermitting, type Roles } from "./roles.js";
import {
  decidingByPermissions,
  type DecisionPort,
  type OpenScopePort,
  type ScopePort,
} from "./decisions.js";

export interface AuthorizationSpec {
  /** Permissions that include every other; `{resource}` is the resource's name. May be empty. */
  readonly override: readonly string[];
  /** What permissions were called, where the service's own decide. */
  readonly former?: FormerPermissions | undefined;
  /** The roles of the registry. */
  readonly roles?: Roles | undefined;
  /** Who decides; the permissions of the service's own where left out. */
  readonly decide?: DecisionPort;
}

/** Restricts the rows that an operation sees; can also be asked for the filter alone. */
export interface ScopeHook extends PhaseHook<"before", unknown, never> {
  visible(context: ExecutionContext): Promise<Filter>;
}

export interface Authorization {
  /**
   * The caller, and who acts for it, may perform `action` (`tasks.read`). Otherwise 403. Actions of
   * `platform` reach across tenants: only permissions that hold everywhere count for them. Runs
   * after `principal`.
   */
  authorize(action: string): PhaseHook<"before", unknown, never>;
  /** Whether `authorize(action)` would let the caller pass: for handlers that ask. */
  may(action: string, context: ExecutionContext): Promise<boolean>;
  /**
   * Every row that the operation reads or writes passes the port's filter as well; others don't
   * exist for it. Callers with one of the permissions in `lifting` aren't restricted. Runs after
   * `principal` and before the operation's own hooks, so that these see no more than it does.
   */
  scope(spec: DocumentSpec, port: ScopePort, ...lifting: readonly string[]): ScopeHook;
  /**
   * As `scope`, also for callers who are not signed in. A credential that is for some permissions
   * only is nobody's here, since it is asked for none.
   */
  openScope(spec: DocumentSpec, port: OpenScopePort, ...lifting: readonly string[]): ScopeHook;
}

/** Binds the hooks of a service. */
export function authorization({
  override,
  former = unchanged,
  roles = {},
  decide = decidingByPermissions(former),
}: AuthorizationSpec): Authorization {
  const above = (resource: string): readonly string[] =>
    override.map((permission) => permission.replaceAll("{resource}", resource));

  const permits = async (
    context: ExecutionContext,
    resource: string,
    actions: readonly string[],
  ): Promise<boolean> => {
    const caller = callerOf(context);
    const tenant = resource === "platform" ? null : caller.tenant;
    const { scopes = null } = caller;
    const isFor = (action: string): boolean =>
      storedAs(former, action).some((called) => scopes?.includes(called));
    if (scopes !== null && !actions.some(isFor)) return false;
    const sufficing = [...actions, ...rolesPermitting(roles, actions)];
    for (const principalId of subjectsOf(caller))
      if (!(await decide({ principalId, actions: sufficing, tenant }, context))) return false;
    return true;
  };

  /** Whether the caller has a permission that lifts a scope. */
  const isLifted = async (
    context: ExecutionContext,
    { name }: DocumentSpec,
    actions: readonly string[],
  ): Promise<boolean> => actions.length > 0 && (await permits(context.beyondScopes, name, actions));

  const may = (action: string, context: ExecutionContext): Promise<boolean> => {
    const [resource = ""] = action.split(".");
    return permits(context, resource, [action, ...above(resource)]);
  };

  return {
    may: (action, context) => context.call("may", () => may(action, context)),

    authorize: (action) => ({
      phase: "before",
      asks: `authorize ${action}`,
      run: async (_input, context) => {
        if (!(await may(action, context))) throw fail("core.authorization", { missing: action });
      },
    }),

    scope: (spec, port, ...actions) =>
      narrowDocuments(spec, async (context) => {
        const identity = callerOf(context);
        if (await isLifted(context, spec, actions)) return everything;
        const { beyondScopes } = context;
        return readFilter(spec, await port({ document: spec.name, identity }, beyondScopes));
      }),

    openScope: (spec, port, ...actions) =>
      narrowDocuments(spec, async (context) => {
        const { identity: caller, beyondScopes } = context;
        const identity = caller === null || caller.scopes != null ? null : caller;
        if (caller !== null && (await isLifted(context, spec, actions))) return everything;
        return readFilter(spec, await port({ document: spec.name, identity }, beyondScopes));
      }),
  };
}

/** A hook that narrows the documents of a spec. */
function narrowDocuments(spec: DocumentSpec, visible: ScopeHook["visible"]): ScopeHook {
  return {
    phase: "before",
    visible,
    run: async (_input, context) => {
      const filter = await visible(context);
      if (filter !== everything) context.narrow(spec.name, filter);
    },
  };
}

/** An invalid filter is a fault of the service, never a wider result. */
function readFilter(spec: DocumentSpec, filter: unknown) {
  try {
    if (!isObject(filter) || Object.values(filter).includes(undefined))
      throw new Error("a scope gives a filter; {} is every row");
    return within(parseFilter(filter, spec.scopeFields, ""), allVisible);
  } catch (cause) {
    throw fail("core.configuration", {}, { cause });
  }
}

/** The built-in row filter: rows that the caller itself created. */
export const ownRows: ScopePort = ({ identity }) => ({
  $values: { owner_id: identity.principalId },
});
