// The identity family: how callers sign in and are known, their API keys, the administration of
// principals.
import { expansion, family } from "../../kernel/family.js";
import { expandApiKeys } from "./api-keys.js";
import { expandIdentity } from "./authn.js";
import { compare } from "./compare.js";
import { rollout } from "./rollout.js";
import { emitIdentity } from "./emit.js";
import { diagnostics } from "./diagnostics.js";
import { format } from "./format.js";
import { models } from "./model-parts.js";
import {
  boundaryErrors,
  excludedOperationsExist,
  identityModel,
  withFormerPermissions,
} from "./expand.js";
import { expandProvisioning } from "./principals.js";
import { documents } from "../documents/index.js";
import { authorize, identitySpec } from "./spec.js";
import { tables } from "./tables.js";

export const identity = family({
  name: "identity",
  format,
  diagnostics,
  models,
  after: [documents],
  expand(context) {
    const model = identityModel(context);
    return expansion(model, {
      namespaces: [
        ...expandIdentity(context),
        ...expandApiKeys(context),
        ...expandProvisioning(context),
      ],
      frozen(operations) {
        excludedOperationsExist(context, model, operations);
        return { identity: withFormerPermissions(context, model) };
      },
      furtherErrors: (operation) => boundaryErrors(context, operation),
    });
  },
  compare,
  rollout,
  emit: emitIdentity,
  tables: [{ areNeeded: (model) => model.identity !== null, steps: tables }],
  paths: (model) => (model.identity?.jwks == null ? [] : [model.identity.jwks.path]),
  service: (model) => (model.identity === null ? {} : { identity: identitySpec, authorize }),
});
