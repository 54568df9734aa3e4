// Both object engines pass the contract of the object-store port.
import { afterAll, beforeAll, describe, test } from "vitest";
import { objectStoreContract } from "../../runtime/testing/index.js";
import { objectEngines, type FreshObjects } from "../object-engines.js";

for (const engine of objectEngines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let objects: FreshObjects;
    beforeAll(async () => {
      objects = await engine.create();
    });
    afterAll(() => objects.drop());
    objectStoreContract(
      { describe, test: (name, body) => void test(name, body, 60_000) },
      { open: () => objects.open(), leftovers: () => objects.leftovers() },
    );
  });
}
