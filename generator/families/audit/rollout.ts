// What changes of the audit trail take of a rollout.
import {
  need,
  needsOfAll,
  type Need,
  type RolloutRules,
  type RolloutSide,
} from "../../compare/rollout.js";
import type { RegistryModel } from "../../model/registry.js";
import type { AuditModel } from "./model.js";

const rules: RolloutRules<AuditModel> = {
  // Whoever of the two removes old entries first, they are gone.
  keepSeconds: null,
  // Each version tells what it is told to.
  except: null,
};

/** The trail of a registry is one section. */
export function rollout(before: RolloutSide, after: RolloutSide): readonly Need[] {
  const each = ({ audit }: RegistryModel): Readonly<Record<string, AuditModel>> =>
    audit === undefined ? {} : { audit };
  return needsOfAll([each(before.model), each(after.model)], rules, [before, after], () =>
    need("leaves stored things behind", "the audit trail stays stored, and nothing is added to it"),
  );
}
