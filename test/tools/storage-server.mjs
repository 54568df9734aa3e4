// A service with nothing but storages, open to all and without bounds: for transfers of sizes that the reference refuses.
// Usage: node storage-server.mjs (settings come from the environment); the URL is printed when it is ready.
import {
  defineService,
  readSettings,
  route,
  silentLog,
  start,
  storage,
  storageInput,
  defineStorage,
} from "../../dist/runtime/index.js";

const storages = [
  defineStorage({
    name: "plain",
    maxUploadBytes: null,
    maxRangeBytes: 1 << 24,
    accept: null,
    encryption: "none",
  }),
  defineStorage({
    name: "sealed",
    maxUploadBytes: null,
    maxRangeBytes: 1 << 24,
    accept: null,
    encryption: "client",
  }),
];
const routes = storages.flatMap((spec) => {
  const common = { hooks: [], transaction: "read" };
  const at = `/${spec.name}`;
  return [
    route({
      ...common,
      operationId: `${spec.name}.upload`,
      method: "POST",
      path: at,
      status: 201,
      input: storageInput.upload,
      run: storage.upload(spec),
    }),
    route({
      ...common,
      operationId: `${spec.name}.download`,
      method: "GET",
      path: `${at}/{+key}`,
      status: 200,
      input: storageInput.download,
      run: storage.download(spec),
    }),
  ];
});
const service = defineService({
  name: "large",
  title: "Large",
  version: "1.0.0",
  routes,
  storage: storages,
});
const running = await start(service, {
  settings: readSettings(service),
  folder: process.argv[2],
  log: silentLog,
});
process.stdout.write(`${running.url}\n`);
process.on("SIGTERM", () => void running.stop().then(() => process.exit(0)));
