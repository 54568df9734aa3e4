// The family of errors: codes of the author's own, which operations and hooks name.
import { expansion, family } from "../../kernel/family.js";
import { compare } from "./compare.js";
import { toldContexts } from "./contexts.js";
import { emitErrors } from "./emit.js";
import { errorModels } from "./expand.js";
import { diagnostics } from "./diagnostics.js";
import { format } from "./format.js";
import { models } from "./model.js";
import { namedErrorsExist } from "./named.js";

export const errors = family({
  name: "errors",
  format,
  diagnostics,
  models,
  expand(context) {
    const models = errorModels(context);
    return expansion(models, { frozen: () => ({ errors: models }) });
  },
  compare,
  rollout: null,
  emit: emitErrors,
  told: toldContexts,
  rules: [namedErrorsExist],
  met: ({ errors: models }) =>
    Object.values(models).flatMap(({ contextType }) => contextType ?? []),
});
