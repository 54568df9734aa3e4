// The family of the audit trail: who has changed what in a tenant, for those who may read it.
import { expansion, family } from "../../kernel/family.js";
import { callOf, ofRuntime } from "../../model/code.js";
import { compare } from "./compare.js";
import { auditModel, expandAudit } from "./expand.js";
import { diagnostics } from "./diagnostics.js";
import { format } from "./format.js";
import { models } from "./model.js";
import { rollout } from "./rollout.js";
import { tables } from "./tables.js";

export const audit = family({
  name: "audit",
  format,
  diagnostics,
  models,
  expand(context) {
    const model = auditModel(context);
    return expansion(model, {
      namespaces: expandAudit(context),
      frozen: () => (model === null ? {} : { audit: model }),
    });
  },
  compare,
  rollout,
  tables: [{ areNeeded: (model) => model.audit !== undefined, steps: tables }],
  service: ({ audit: model }) => {
    if (model === undefined) return {};
    const { keepSeconds, except } = model;
    const named = except.map((literal) => ({ literal }));
    const given =
      keepSeconds === null && named.length === 0 ? [] : [{ literal: keepSeconds ?? 0 }, ...named];
    return { audit: callOf(ofRuntime("defineAudit"), ...given) };
  },
});
