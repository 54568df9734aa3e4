// The family of storage: files.
import { familyOf } from "../../operations/family.js";
import type { StorageSpec } from "../../ports/storage-spec.js";

const hourMillis = 60 * 60 * 1_000;
/** Uploads that one step gives up. */
const uploadsAtOnce = 100;

export const storageFamily = familyOf<readonly StorageSpec[]>()({
  member: "storages",
  // Uploads that did not end; an engine that is away holds up nothing else.
  jobs: (storages, { objects, uploadSeconds }) =>
    storages.map((spec) => ({
      name: `uploads.${spec.name}`,
      everyMillis: hourMillis,
      step: async () =>
        (await objects.of(spec).sweep(`${spec.name}/`, uploadSeconds, uploadsAtOnce)) ===
        uploadsAtOnce,
    })),
});
