// How large clients of one API of 1 000 operations are in a bundle, and how long they take to type-check.
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { registryOf } from "./registry-of.mjs";
import { amount, bin, execute, installedPeers, project, repository, table } from "./tools.mjs";

const operationCount = amount(1_000, 30);
const rounds = amount(3, 1);

/** Generates the clients of the others from our document. */
function generatePeers(root) {
  symlinkSync(join(installedPeers(), "node_modules"), join(root, "node_modules"));
  const document = join(root, "generated/openapi.json");
  writeFileSync(
    join(root, "hey-api.mjs"),
    `import { createClient } from "@hey-api/openapi-ts";
await createClient({
  input: ${JSON.stringify(document)},
  output: { path: "hey-api" },
  plugins: ["@hey-api/client-fetch", "@hey-api/sdk", "@hey-api/typescript"],
  logs: { level: "silent" },
});`,
  );
  writeFileSync(
    join(root, "orval.mjs"),
    `import { generate } from "orval";
await generate({
  input: { target: ${JSON.stringify(document)} },
  output: { target: "orval/api.ts", client: "fetch", mode: "tags-split" },
});`,
  );
  execute("node", ["hey-api.mjs"], { cwd: root });
  execute("node", ["orval.mjs"], { cwd: root });
  mkdirSync(join(root, "openapi-fetch"));
  execute("npx", ["openapi-typescript", document, "-o", "openapi-fetch/schema.d.ts"], {
    cwd: root,
  });
}

/** Bytes of a program in a bundle, minified and then compressed. */
async function sizeOf(root, program) {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: root, loader: "ts" },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    write: false,
    logLevel: "error",
  });
  const [{ contents }] = outputFiles;
  return { minified: contents.length, gzip: gzipSync(contents, { level: 9 }).length };
}

/** Every function of an API by tag, so that none can be left out. */
function allOf(folder, from) {
  const files = readdirSync(folder).filter((name) => !name.includes("schemas"));
  const lines = files.map((name, index) => `import * as n${index} from "${from(name)}";`);
  return `${lines.join("\n")}\nconsole.log(${files.map((_, index) => `n${index}`).join(", ")});`;
}

function programs(root) {
  const url = '"https://api.example.com"';
  return {
    opwright: {
      one: `import { createClient, item000 } from "./generated/client/index.js";
const client = createClient({ baseUrl: ${url} });
console.log(await item000.get(client, { id: "1" }));`,
      all: `import * as all from "./generated/client/index.js"; console.log(all);`,
    },
    "openapi-fetch": {
      one: `import createClient from "openapi-fetch";
import type { paths } from "./openapi-fetch/schema.js";
const client = createClient<paths>({ baseUrl: ${url} });
console.log(await client.GET("/item000/{id}", { params: { path: { id: "1" } } }));`,
      all: `import createClient from "openapi-fetch"; console.log(createClient);`,
    },
    "hey-api": {
      one: `import { item000Get } from "./hey-api/sdk.gen.ts";
import { client } from "./hey-api/client.gen.ts";
client.setConfig({ baseUrl: ${url} });
console.log(await item000Get({ path: { id: "1" } }));`,
      all: `import * as all from "./hey-api/sdk.gen.ts"; console.log(all);`,
    },
    orval: {
      one: `import { item000Get } from "./orval/item000/item000.ts"; console.log(await item000Get("1"));`,
      all: allOf(join(root, "orval"), (name) => `./orval/${name}/${name}.ts`),
    },
  };
}

/** Seconds of checking and in all, with the compiler of a package. */
function checked(root, folder, tsc) {
  const config = join(root, `tsconfig.${folder.replaceAll("/", "-")}.json`);
  const compilerOptions = {
    target: "ES2022",
    lib: ["ES2022", "DOM", "DOM.Iterable"],
    types: [],
    module: "ESNext",
    moduleResolution: "bundler",
    allowImportingTsExtensions: true,
    strict: true,
    skipLibCheck: false,
    noEmit: true,
  };
  const include = [`${folder}/**/*.ts`];
  writeFileSync(config, JSON.stringify({ compilerOptions, include }));
  const times = Array.from({ length: rounds }, () => {
    const stdout = execute("node", [tsc, "-p", config, "--extendedDiagnostics"], { cwd: root });
    const seconds = (name) =>
      Number(new RegExp(`^${name} time:\\s+([0-9.]+)s`, "m").exec(stdout)?.[1]);
    return { check: seconds("Check"), total: seconds("Total") };
  });
  const least = (name) => Math.min(...times.map((one) => one[name]));
  return { check: least("check"), total: least("total") };
}

export async function run() {
  const { root, remove } = project(registryOf(operationCount));
  execute("node", [bin, "generate"], { cwd: root });
  generatePeers(root);
  const { operations } = JSON.parse(
    execute("node", [bin, "list", "--format", "json"], { cwd: root }),
  );
  const kilobytes = ({ minified, gzip }) => [
    (minified / 1_000).toFixed(1),
    (gzip / 1_000).toFixed(1),
  ];
  const rows = [];
  for (const [name, { one, all }] of Object.entries(programs(root)))
    rows.push([name, ...kilobytes(await sizeOf(root, one)), ...kilobytes(await sizeOf(root, all))]);
  const live = `import { connect, createClient, tasks, webSocket } from "./all.ts";
const client = createClient({ baseUrl: "https://api.example.com" });
connect(client, { transport: webSocket() }).on("task.changed", console.log);
console.log(await tasks.get(client, { id: "1" }));`;
  writeFileSync(
    join(root, "all.ts"),
    ["index", "realtime"]
      .map(
        (name) =>
          `export * from ${JSON.stringify(join(repository, `generated/client/${name}.ts`))};`,
      )
      .join("\n"),
  );
  rows.push([
    "opwright, and realtime over WebSocket",
    ...kilobytes(await sizeOf(root, live)),
    "",
    "",
  ]);
  const everywhere = live
    .replace("webSocket }", "shareConnection, webSocket }")
    .replace("webSocket()", "shareConnection(webSocket())");
  rows.push([
    "opwright, and one connection for all tabs",
    ...kilobytes(await sizeOf(root, everywhere)),
    "",
    "",
  ]);
  process.stdout.write(`${operations.length} operations, kilobytes in a bundle of esbuild\n\n`);
  table(["client", "one, minified", "one, gzip", "all, minified", "all, gzip"], rows);

  const [old, native] = [
    join(installedPeers(), "node_modules/typescript/bin/tsc"),
    join(repository, "node_modules/typescript/bin/tsc"),
  ];
  const folders = {
    opwright: "generated/client",
    "openapi-fetch": "openapi-fetch",
    "hey-api": "hey-api",
    orval: "orval",
  };
  const times = Object.entries(folders).map(([name, folder]) => {
    const [slow, quick] = [old, native].map((tsc) => checked(root, folder, tsc));
    return [
      name,
      `${slow.check.toFixed(2)} s`,
      `${slow.total.toFixed(2)} s`,
      `${quick.total.toFixed(2)} s`,
    ];
  });
  process.stdout.write("\nType-checking all of it\n\n");
  table(["client", "TypeScript 5.9, checking", "total", "TypeScript 7, total"], times);
  remove();
}
