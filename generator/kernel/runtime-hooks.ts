// Hooks of the runtime that policies name (service.md "Authorization per operation").
import type { Finding, Origin } from "../diagnostics/diagnostics.js";
import type { Declarations } from "../load/declarations.js";
import { durationSeconds } from "../load/quantities.js";
import { own } from "../model/records.js";
import { callOf, functionReference, ofAuthor, ofGenerated, ofRuntime } from "../model/code.js";
import { specName } from "../model/names.js";
import { scopeId } from "../model/scope-id.js";
import type { HookUse } from "../model/registry.js";
import type { ExpansionContext } from "./family.js";
import { askFor, permissionFor } from "./permissions.js";

/** Requires a caller. */
export const principalHook: HookUse = {
  id: "principal",
  phase: "before",
  run: ofRuntime("principal"),
  isAuthored: false,
  requires: [],
  provides: ["authn.principal"],
  permission: null,
  errors: ["core.authentication"],
};

/** Requires a caller, whatever permissions its credential is for. */
export const anyCredentialHook: HookUse = {
  ...principalHook,
  id: "any credential",
  run: ofRuntime("anyCredential"),
};

/** Requires a caller with a session of its own. */
export const sessionHook: HookUse = {
  id: "session",
  phase: "before",
  run: ofRuntime("session"),
  isAuthored: false,
  requires: ["authn.principal"],
  provides: ["authn.session"],
  permission: null,
  errors: ["core.authorization"],
};

/** Requires a session, be it one in which somebody acts for the caller. */
export const anySessionHook: HookUse = {
  ...sessionHook,
  id: "any session",
  run: ofRuntime("anySession"),
  provides: ["authn.any_session"],
};

interface BuiltInHook {
  readonly hook: HookUse;
  /** The sections without which it cannot run. */
  readonly needs: readonly (keyof Declarations)[];
}

/** Hooks that a registry may name without declaring them. */
export const builtInHooks: readonly BuiltInHook[] = [
  { hook: principalHook, needs: ["identity"] },
  { hook: sessionHook, needs: ["identity"] },
  {
    hook: {
      id: "tenant",
      phase: "before",
      run: ofRuntime("tenant"),
      isAuthored: false,
      requires: ["authn.principal"],
      provides: ["tenancy.tenant"],
      permission: null,
      errors: ["tenant_required"],
    },
    needs: ["identity", "tenancy"],
  },
];

/**
 * The built-in hook of a name, with the first section that it needs and the registry lacks;
 * undefined for other names.
 */
export function builtInHook(
  name: string,
  declarations: Declarations,
): { readonly hook: HookUse; readonly lacks: string | undefined } | undefined {
  const found = builtInHooks.find(({ hook }) => hook.id === name);
  if (found === undefined) return undefined;
  const lacks = found.needs.find((section) => declarations[section] === undefined);
  return { hook: found.hook, lacks };
}

/** Sections as they are first written. */
const sectionExamples: Readonly<Record<string, string>> = {
  identity: "`identity: {methods: [token, password]}`",
  tenancy: "`tenancy: {}`",
};

/** The finding that a built-in hook lacks a section. */
export function lackingSection(name: string, section: string): Omit<Finding, "at"> {
  return {
    code: "OPW057",
    message: `the hook ${name} needs \`${section}:\`, which is missing`,
    hint: `Add the section: ${sectionExamples[section] ?? `\`${section}: {}\``}.`,
  };
}

/** Requires a permission, whose grants may be stored under another name. */
export function authorizeHook(action: string, stored: string): HookUse {
  return {
    id: `authorize ${action}`,
    phase: "before",
    // Bound to the service's own authorization.
    run: callOf(ofGenerated("identity", "authorize"), { literal: action }),
    isAuthored: false,
    requires: ["authn.principal"],
    provides: ["authz.authorize"],
    permission: action,
    ...(stored === action ? {} : { stored }),
    errors: ["core.authorization"],
  };
}

/** Limits how often one caller may run the operation. */
export function rateLimitHook(rate: string): HookUse {
  const [points = "", window = ""] = rate.split("/");
  const literals = [Number(points), durationSeconds(window)];
  return {
    id: `rate_limit ${rate}`,
    phase: "before",
    run: callOf(ofRuntime("rateLimit"), ...literals.map((literal) => ({ literal }))),
    isAuthored: false,
    requires: [],
    provides: [],
    permission: null,
    errors: ["core.throttled"],
  };
}

/** The name of scopes that restrict whoever is not signed in, as generated code has it. */
export const openScope = "openScope";

/**
 * The step of a policy that restricts rows, and the permissions whose holders it does not restrict.
 */
export interface ScopeStep {
  readonly name: string;
  readonly override: readonly string[];
  /** Whether it restricts callers who are not signed in. */
  readonly strangers: boolean;
}

/**
 * Restricts the rows of the document `resource`; an unknown scope is reported at the policy.
 * Reports a scope on an operation without documents, which would run without it.
 */
export function scopeHook(
  context: ExpansionContext,
  { name, override: declaredOverride, strangers }: ScopeStep,
  resource: string,
  at: Origin,
): HookUse | undefined {
  const { declarations, report } = context;
  const declared = own(declarations.scopes, name);
  if (declared === undefined && name !== "own_rows") return undefined;
  if (own(declarations.documents, resource) === undefined) {
    const message = `${resource} has no documents, so the scope ${name} would narrow nothing`;
    // To drop the scope shows every row to whoever reads documents in the handler.
    const [document = "tasks"] = Object.keys(declarations.documents);
    const hint = `If its handler reads documents, call the operation after them, such as \`${document}.find\`: then the scope narrows what it reads. If it reads none, name a policy without \`scope\`.`;
    report({ code: "OPW056", message, at, hint });
    return undefined;
  }
  const override = declaredOverride.map((one) => permissionFor(one, resource));
  for (const one of override) askFor(context, one, at);
  const port =
    declared === undefined ? ofRuntime("ownRows") : ofAuthor(functionReference(declared));
  return {
    id: scopeId(name, override),
    phase: "before",
    run: callOf(
      ofGenerated("identity", strangers ? openScope : "scope"),
      ofGenerated(`documents/${resource}`, specName(resource)),
      port,
      ...override.map((literal) => ({ literal })),
    ),
    isAuthored: false,
    requires: strangers ? [] : ["authn.principal"],
    provides: ["authz.scope"],
    permission: null,
    override,
    errors: ["core.authorization"],
  };
}
