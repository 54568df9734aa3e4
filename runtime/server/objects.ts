// Which object engine an OBJECTS_URL names. An engine is imported only when it is configured.
import { fail } from "../contract/errors.js";
import type { Clock } from "../ports/clock.js";
import type { Signer } from "../ports/signer.js";
import type { Addresses } from "../ports/direct-addresses.js";
import type { Objects, ObjectStore } from "../ports/objects.js";
import { encryptedStore } from "../families/storage/encryption/encrypted-store.js";
import { mixedStore } from "../families/storage/encryption/mixed-store.js";
import { localKeyRing } from "../families/storage/encryption/key-ring.js";
import { signedAddresses } from "../families/storage/signed-addresses.js";
import type { StorageSpec } from "../ports/storage-spec.js";
import type { Settings } from "./settings.js";

/** The objects of a service, open until `close`. */
export interface OpenObjects extends Objects {
  /** For answering signed addresses in the service itself; null if the engine answers them, or there is no storage. */
  readonly direct: { readonly store: ObjectStore; readonly addresses: Addresses } | null;
  /** As `ping` of the engine; resolves if there is no storage. */
  ping(signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Opens the engine that the settings name. Without a storage it opens nothing, and `of` throws `core.configuration`. */
export async function openObjects(
  storages: readonly StorageSpec[],
  settings: Settings,
  signer: Signer,
  clock: Clock,
  publicUrl: () => string,
): Promise<OpenObjects> {
  if (storages.length === 0)
    return {
      of: () => {
        throw unconfigured("the service has no storage");
      },
      direct: null,
      ping: async () => undefined,
      close: async () => undefined,
    };
  const { objectsUrl } = settings;
  if (objectsUrl.startsWith("s3:")) {
    const { openS3Store } = await import("../engines/s3/engine.js");
    const store = await openS3Store(s3Options(settings));
    const ping = (signal?: AbortSignal): Promise<void> => store.ping(signal);
    return {
      of: storeOf(store, settings),
      direct: null,
      ping,
      close: () => store.close(),
    };
  }
  const addresses = signedAddresses(signer, clock, publicUrl);
  const { openFolderStore } = await import("../engines/folder/engine.js");
  const store = await openFolderStore(objectsUrl.slice("file:".length), addresses);
  return {
    of: storeOf(store, settings),
    direct: { store, addresses },
    ping: (signal) => store.ping(signal),
    close: () => store.close(),
  };
}

/** Chooses for each storage the store itself, or one that encrypts into it. */
function storeOf(
  store: ObjectStore,
  { objectSecrets }: Settings,
): (spec: StorageSpec) => ObjectStore {
  if (objectSecrets.length === 0) return () => store;
  const encrypted = encryptedStore(store, localKeyRing(objectSecrets));
  const [ofBoth, sealing] = [
    mixedStore(store, encrypted, "none"),
    mixedStore(store, encrypted, "client"),
  ];
  return ({ encryption, alsoReads = [] }) => {
    const isMixed = alsoReads.some((other) => other !== encryption);
    if (encryption === "client") return isMixed ? sealing : encrypted;
    return isMixed ? ofBoth : store;
  };
}

/** The options of an `OBJECTS_URL`: `s3://bucket?endpoint=https://…&region=…`. */
function s3Options({ objectsUrl, objectsCredentials }: Settings) {
  const url = new URL(objectsUrl);
  return {
    bucket: url.hostname,
    endpoint: url.searchParams.get("endpoint") ?? undefined,
    region: url.searchParams.get("region") ?? "us-east-1",
    credentials: objectsCredentials,
  };
}

function unconfigured(what: string): Error {
  return fail("core.configuration", {}, { cause: new Error(what) });
}
