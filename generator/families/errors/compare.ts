// What changes of the author's own errors mean for who reads them.
import type { Comparison } from "../../compare/comparison.js";
import { compareAll, tellOf, value, type Rules } from "../../compare/rules.js";
import type { OwnErrorModel } from "./model.js";
import type { RegistryModel } from "../../model/registry.js";

const error: Rules<OwnErrorModel> = {
  kind: value("breaking", (kind) => `is of the kind ${kind}`),
  detail: value("documentation", () => "says something else"),
  retryable: value("breaking", (may) => (may ? "may be tried again" : "may not be tried again")),
  contextType: value("breaking", (type) => `tells ${type ?? "nothing besides"}`),
};

export function compare(before: RegistryModel, after: RegistryModel, { note }: Comparison): void {
  compareAll(before.errors, after.errors, error, (name) =>
    tellOf(note, { kind: "error", name, declared: ["errors", name] }, "http"),
  );
}
