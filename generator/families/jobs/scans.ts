// `scan:` of storages: the job is there and takes the upload.
import { didYouMean } from "../../diagnostics/did-you-mean.js";
import type { FamilyContext } from "../../kernel/family.js";
import type { SchemaObject } from "../../model/json-schema.js";
import type { StorageModel } from "../storage/model.js";
import { inputFault, type Jobs } from "./input-fault.js";

/** Uploads go by ids of several kinds. */
function takesAnyText(schema: SchemaObject): boolean {
  return Object.keys(schema).every((name) => ["type", "title", "description"].includes(name));
}

/** Reports scans of storages that cannot be done (OPW115). */
export function checkScans(
  context: FamilyContext,
  storages: ReadonlyMap<string, StorageModel>,
  jobs: Jobs,
): void {
  for (const { name, scan } of storages.values()) {
    if (scan === null) continue;
    const fault = inputFault(context, jobs, scan, "upload", "the `upload`", takesAnyText);
    if (fault === null) continue;
    context.report({
      code: "OPW115",
      message: fault,
      at: context.tree.at("storage", name, "scan"),
      suggestion: Object.hasOwn(jobs, scan) ? undefined : didYouMean(scan, Object.keys(jobs)),
    });
  }
}
