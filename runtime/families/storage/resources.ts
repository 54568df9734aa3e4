// What storage works with in a running service: the engine of objects, and what encrypts into it.
import { openedAs, type OpenedResource, type Opening } from "../../operations/family.js";
import type { Resources } from "../../operations/resources.js";
import type { Addresses } from "../../ports/direct-addresses.js";
import type { Objects, ObjectStore } from "../../ports/objects.js";
import { resourceKey } from "../../ports/resource-key.js";
import type { StorageSpec } from "../../ports/storage-spec.js";
import type { ExecutionContext } from "../../operations/context.js";
import { tracedStore } from "./traced-store.js";
import { encryptedStore } from "./encryption/encrypted-store.js";
import { localKeyRing } from "./encryption/key-ring.js";
import { mixedStore } from "./encryption/mixed-store.js";
import type { StorageSettings } from "./settings.js";
import { signedAddresses } from "./signed-addresses.js";

/** The objects of a service. */
export interface StorageResources extends Objects {
  /** For answering signed addresses in the service itself; null if the engine answers them. */
  readonly direct: { readonly store: ObjectStore; readonly addresses: Addresses } | null;
  /** As `ping` of the engine. */
  ping(signal?: AbortSignal): Promise<void>;
  /** Seconds after which an unfinished upload in parts is removed. */
  readonly uploadSeconds: number;
}

export const storageResources = resourceKey<StorageResources>("storage");

/** The store of one storage, for work of the service itself. */
export function storeFor(spec: StorageSpec, resources: Pick<Resources, "of">): ObjectStore {
  return resources.of(storageResources).of(spec);
}

/** The store of one storage, whose calls are parts of an invocation in its trace. */
export function storeWithin(
  spec: StorageSpec,
  { resources, trace }: Pick<ExecutionContext, "resources" | "trace">,
): ObjectStore {
  const store = storeFor(spec, resources);
  return trace === null ? store : tracedStore(store, trace, spec.name);
}

/** Opens the engine that the settings name. A service without a storage opens none. */
export async function openStorage(
  storages: readonly StorageSpec[],
  { signer, clock, publicUrl, doors }: Opening,
  { location, uploadSeconds, secrets }: StorageSettings,
): Promise<readonly OpenedResource[]> {
  if (storages.length === 0) return [];
  const addresses = signedAddresses(signer, clock, publicUrl);
  const { store, answersAddresses } = await doors.objects(location, addresses);
  const resources: StorageResources = {
    of: storeOf(store, secrets),
    direct: answersAddresses ? null : { store, addresses },
    ping: (signal) => store.ping(signal),
    uploadSeconds,
  };
  return [openedAs(storageResources, resources, () => store.close())];
}

/** Chooses for each storage the store itself, or one that encrypts into it. */
function storeOf(
  store: ObjectStore,
  secrets: readonly Buffer[],
): (spec: StorageSpec) => ObjectStore {
  if (secrets.length === 0) return () => store;
  const encrypted = encryptedStore(store, localKeyRing(secrets));
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
