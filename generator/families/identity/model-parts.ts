// What registry.json leaves out of identity, and what earlier versions wrote otherwise.
import type {
  AuthenticationRouteModel,
  IdentityModel,
  IngressModel,
} from "../../model/identity-model.js";
import type { ModelParts } from "../../model/model-parts.js";
import type { HookUse } from "../../model/registry.js";
import { scopeId } from "../../model/scope-id.js";

/** Its part of the model. */
export const models: ModelParts = {
  identity: {
    empty: null,
    usually: {
      signUp: null,
      former: { resources: {}, permissions: {} },
      roles: {},
      erasesAlso: null,
      exportsAlso: null,
      founders: null,
      members: null,
    } satisfies Partial<IdentityModel>,
    thaw: (frozen) => withRoutes(frozen as IdentityModel),
    thawHook: (frozen, hook, namespace) => withOverride(frozen as IdentityModel, hook, namespace),
  },
};

/**
 * Identity in the current form: earlier versions had one authentication route, and its members
 * directly in identity.
 */
function withRoutes(identity: IdentityModel): IdentityModel {
  if ((identity as Partial<IdentityModel>).routes !== undefined) return identity;
  const { route, verifier, resolver, ...rest } = identity as IdentityModel &
    AuthenticationRouteModel & { readonly route: string };
  const ingress = rest.ingress.map((one): IngressModel => {
    if (one.kind === "api_key") return one;
    return one.kind === "bearer" ? { ...one, scheme: "Bearer", route } : { ...one, route };
  });
  return { ...rest, routes: { [route]: { verifier, resolver } }, ingress };
}

/** A scope of an earlier version, which the service's override permissions lifted. */
function withOverride(
  { override: lifting = [] }: Partial<IdentityModel>,
  hook: HookUse,
  namespace: string,
): HookUse {
  if (!hook.provides.includes("authz.scope") || hook.override !== undefined) return hook;
  const override = lifting.map((one) => one.replaceAll("{resource}", namespace));
  return { ...hook, id: scopeId(hook.id.replace(/^scope /, ""), override), override };
}
