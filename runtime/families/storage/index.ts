// The family of storage: files.
import { familyOf } from "../../operations/family.js";
import { placeOf, type StorageSpec } from "../../ports/storage-spec.js";
import { expectedChanges } from "./expected.js";
import { rebuildCommand, sweepOf } from "./rebuild.js";

const hourMillis = 60 * 60 * 1_000;
/** Uploads that one step gives up. */
const uploadsAtOnce = 100;

export const storageFamily = familyOf<readonly StorageSpec[]>()({
  member: "storages",
  // Work with the engine of objects; one that is away holds up nothing else.
  jobs: (storages, resources) => [
    ...storages.map((spec) => ({
      name: `uploads.${placeOf(spec)}`,
      everyMillis: hourMillis,
      step: async () =>
        (await resources.objects
          .of(spec)
          .sweep(`${placeOf(spec)}/`, resources.uploadSeconds, uploadsAtOnce)) === uploadsAtOnce,
    })),
    ...storages.map((spec) => sweepOf(spec, resources)),
    ...(storages.length === 0 ? [] : [expectedChanges(storages, resources)]),
  ],
  commands: (storages) => (storages.length === 0 ? [] : [rebuildCommand(storages)]),
});
