// The family of storage: files.
import { familyOf, type ServiceAtWork } from "../../operations/family.js";
import { placeOf, type StorageSpec } from "../../ports/storage-spec.js";
import { fileSet } from "./data.js";
import { expectedChanges } from "./expected.js";
import { quarantineJob } from "./quarantine-job.js";
import { openStorage, storageResources, storeFor } from "./resources.js";
import { foldersOf, readStorageSettings } from "./settings.js";
import { rebuildCommand, sweepOf } from "./rebuild.js";

const hourMillis = 60 * 60 * 1_000;
/** Uploads that one step gives up. */
const uploadsAtOnce = 100;

export const storageFamily = familyOf<readonly StorageSpec[]>()({
  member: "storage",
  settings: readStorageSettings,
  folders: foldersOf,
  open: openStorage,
  tables: (storages) =>
    storages.some(({ scan }) => scan !== undefined) ? ["opwright_quarantine"] : [],
  probes: (storages, service) =>
    storages.length === 0 ? {} : { needed: { objects: () => service.of(storageResources).ping() } },
  // Work with the engine of objects; one that is away holds up nothing else.
  jobs: (storages, resources) => [
    ...storages.map((spec) => ({
      name: `uploads.${placeOf(spec)}`,
      everyMillis: hourMillis,
      step: async () => (await sweepUploads(spec, resources)) === uploadsAtOnce,
    })),
    ...storages.map((spec) => sweepOf(spec, resources)),
    ...(storages.length === 0 ? [] : [expectedChanges(storages, resources)]),
    ...(storages.some(({ scan }) => scan !== undefined)
      ? [quarantineJob(storages, resources)]
      : []),
  ],
  data: (storages, service) => storages.map((spec) => fileSet(spec, service)),
  commands: (storages) => (storages.length === 0 ? [] : [rebuildCommand(storages)]),
});

/** Gives up some of the uploads that began too long ago; returns how many. */
function sweepUploads(spec: StorageSpec, service: ServiceAtWork): Promise<number> {
  const { uploadSeconds } = service.of(storageResources);
  return storeFor(spec, service).sweep(`${placeOf(spec)}/`, uploadSeconds, uploadsAtOnce);
}
