// Which object engine an OBJECTS_URL names. An engine is imported only when it is configured.
import { fail } from "../contract/errors.js";
import type { Objects, ObjectStore } from "../storage/port.js";
import type { StorageSpec } from "../storage/spec.js";
import type { Settings } from "./settings.js";

/** The objects of a service, open until `close`. */
export interface OpenObjects extends Objects {
  close(): Promise<void>;
}

/** Opens the engine that the settings name, where the service has a storage. */
export async function openObjects(
  storages: readonly StorageSpec[],
  settings: Settings,
): Promise<OpenObjects> {
  if (storages.length === 0)
    return {
      of: () => {
        throw fail("core.configuration", {}, { cause: new Error("the service has no storage") });
      },
      close: async () => undefined,
    };
  const plain = await openStore(settings.objectsUrl);
  return { of: () => plain, close: () => plain.close() };
}

async function openStore(url: string): Promise<ObjectStore> {
  const { openFolderStore } = await import("../engines/folder/engine.js");
  return openFolderStore(url.slice("file:".length));
}
