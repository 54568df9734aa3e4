// Compares the audit trails of two registries, besides the operations.
import type { Comparison } from "../../compare/comparison.js";
import { amount, compareAll, tellOf, type Rules } from "../../compare/rules.js";
import { differences } from "../../compare/differences.js";
import type { RegistryModel } from "../../model/registry.js";
import type { AuditModel } from "./model.js";

const rules: Rules<AuditModel> = {
  keepSeconds: (before, after) =>
    after === null
      ? [["additive", "keeps entries for ever"]]
      : amount((text) => `keeps entries for ${text}`, " s")(before, after),
  except: (before: AuditModel["except"] = [], after) => {
    const { gone, added } = differences(before, after);
    return [
      ...added.map((name) => ["breaking", `tells nothing of ${name}`] as const),
      ...gone.map((name) => ["additive", `tells of ${name}`] as const),
    ];
  },
};

/** Reports a change of how long entries are kept. */
export function compare(before: RegistryModel, after: RegistryModel, { note }: Comparison): void {
  const each = ({ audit }: RegistryModel): Readonly<Record<string, AuditModel>> =>
    audit === undefined ? {} : { audit };
  compareAll(each(before), each(after), rules, (name) =>
    tellOf(note, { kind: "service", name, declared: ["audit"] }, "http"),
  );
}
