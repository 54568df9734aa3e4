// What changes of storages mean for clients, beside their operations.
import type { RegistryModel } from "../../model/registry.js";
import type { StorageModel } from "../../model/storage-model.js";
import type { Comparison } from "../../compare/comparison.js";
import { amount, compareAll, tellOf, value, type Rules } from "../../compare/rules.js";

const storage: Rules<StorageModel> = {
  name: null,
  was: null,
  source: null,
  maxUploadBytes: amount((text) => `takes files of ${text}`, " bytes"),
  maxRangeBytes: amount((text) => `answers ranges of ${text}`, " bytes"),
  accept: (before, after) => {
    const takes = (one: string): boolean =>
      after === null || after.some((range) => range === one || isWithin(one, range));
    const isWider = after === null || (before !== null && before.every(takes));
    const types = after === null ? "any type" : after.join(", ");
    return [[isWider ? "additive" : "breaking", `takes ${types}`]];
  },
  detect: (_before, after) =>
    after === "bytes"
      ? [
          [
            "breaking",
            "refuses files whose bytes are of no accepted type, whatever they are called",
          ],
        ]
      : [["additive", "believes the names of files whose bytes no format is known of"]],
  encryption: value("breaking", (encryption) => `has encryption ${encryption}`),
  // What is stored is read as it is; see `rollout`.
  alsoReads: null,
  isStreamed: null,
};

/** Whether a media type is one of a range such as `image/*` (RFC 9110 §12.5.1). */
function isWithin(type: string, range: string): boolean {
  return range === "*/*" || (range.endsWith("/*") && type.startsWith(range.slice(0, -1)));
}

export function compare(before: RegistryModel, after: RegistryModel, { note }: Comparison): void {
  compareAll(before.storages, after.storages, storage, (name) =>
    tellOf(note, { kind: "storage", name, declared: ["storage", name] }, "storage"),
  );
}
