// What changes of storages mean for clients, beside their operations.
import type { RegistryModel } from "../../model/registry.js";
import { countChanged } from "../../kernel/list-count.js";
import type { StorageModel } from "./model.js";
import type { Comparison } from "../../compare/comparison.js";
import {
  compareAll,
  limit,
  tellExchange,
  tellOf,
  type Rules,
  type Told,
} from "../../compare/rules.js";

const storage: Rules<StorageModel> = {
  name: null,
  was: null,
  source: null,
  maxUploadBytes: limit((text) => `takes files of ${text}`, " bytes"),
  maxRangeBytes: limit((text) => `answers ranges of ${text}`, " bytes"),
  accept: (before, after) => {
    const what = `takes ${after === null ? "any type" : after.join(", ")}`;
    const told: Told[] = [];
    if (!takesAll(before, after)) told.push(["opens", what]);
    if (!takesAll(after, before)) told.push(["breaking", what]);
    return told;
  },
  detect: (_before, after) =>
    after === "bytes"
      ? [
          [
            "breaking",
            "refuses files whose bytes are of no accepted type, whatever they are called",
          ],
        ]
      : [["opens", "believes the names of files whose bytes no format is known of"]],
  // Whoever reads what is uploaded gets it later, or before anybody has looked at it.
  scan: (before, after) => {
    if (after === null) return [["opens", "serves uploads that nothing has scanned"]];
    return before === null
      ? [["breaking", `serves uploads once ${after} has released them`]]
      : tellExchange(`has uploads scanned by ${after}`);
  },
  countUpTo: countChanged,
  // With it, signed URLs and uploads in parts are refused; without it, whoever reads the bucket
  // reads the files.
  encryption: (_before, after) => [
    [after === "none" ? "opens" : "breaking", `has encryption ${after}`],
  ],
  // What is stored is read as it is; see `rollout`.
  alsoReads: null,
  isStreamed: null,
};

/** Whether one list of types, of which null is any type, has each type of another one. */
function takesAll(types: StorageModel["accept"], others: StorageModel["accept"]): boolean {
  if (types === null || others === null) return types === null;
  return others.every((one) => types.some((range) => range === one || isWithin(one, range)));
}

/** Whether a media type is one of a range such as `image/*` (RFC 9110 §12.5.1). */
function isWithin(type: string, range: string): boolean {
  return range === "*/*" || (range.endsWith("/*") && type.startsWith(range.slice(0, -1)));
}

export function compare(before: RegistryModel, after: RegistryModel, { note }: Comparison): void {
  compareAll(before.storage, after.storage, storage, (name) =>
    tellOf(note, { kind: "storage", name, declared: ["storage", name] }, "storage"),
  );
}
