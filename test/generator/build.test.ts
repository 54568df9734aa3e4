// `opwright build` on projects of others: code that asks where it is, packages that can't be bundled, folders that are not
// ours, and what is wrong with the project.
import { execFile, execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startProcess } from "../support/process.js";
import { cli } from "./cli.js";
import { writeProject } from "./scenario.js";

const repository = new URL("../..", import.meta.url).pathname;
const parent = mkdtempSync(join(tmpdir(), "opwright-built-"));
let root = "";
let remove = (): void => undefined;

const handler = `import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { words, shared as sharedOfWords } from "words-of-place";
import { shared } from "shared";
import type { NotesGreetHandler } from "../../generated/types/notes.js";

const beside = new URL("../../../assets/greetings/en.txt", import.meta.url);
const byPath = fileURLToPath(import.meta.url);
const late = createRequire(import.meta.url)("loaded-late") as { readonly late: string };

export const greet: NotesGreetHandler = ({ name }) => {
  if (name === "nobody") throw new Error("there is nobody");
  if (name === "where") return { greeting: byPath };
  const said = readFileSync(beside, "utf8").trim();
  return { greeting: [said, name, words, shared, sharedOfWords, late.late].join(" ") };
};
`;

/** Code of authors that a bundle may understand otherwise than Node.js does. */
const awkward: Readonly<Record<string, string>> = {
  "registry/handlers/setup.ts": `(globalThis as Record<string, unknown>)["setup"] = "done";`,
  "registry/handlers/one.ts": `export class Same extends Error { constructor() { super("one"); this.name = new.target.name; } }
export function load(): string { return load.name; }`,
  "registry/handlers/two.ts": `export class Same extends Error { constructor() { super("two"); this.name = new.target.name; } }
export function load(): string { return load.name; }`,
  "registry/handlers/old.cjs": `const path = require("node:path");
// It asks no import.meta.url.
exports.where = () => path.basename(__dirname) + "/" + path.basename(__filename);
`,
  "registry/handlers/awkward.ts": `import "./setup.js";
import { seen } from "sees-setup";
import { seenByModule } from "sees-setup-as-module";
import "for-effect/register.js";
import { hello } from "in-many-languages";
import { loaded } from "has-native-code";
import { version as pinoVersion } from "pino";
import * as one from "./one.js";
import * as two from "./two.js";
import old from "./old.cjs";

const here = import.meta;
export const awkward = async () => ({
  seen, seenByModule, effect: (globalThis as Record<string, unknown>)["effect"] as string,
  hello: await hello("de"), loaded, pinoVersion,
  names: [new one.Same().name, new two.Same().name, one.load(), two.load()].join(" "),
  old: old.where(), text: "import.meta.url",
  here: here.url.slice(here.url.indexOf("/dist/")),
  optional: await import("not-" + "installed").then(() => "there", () => "not there"),
});
`,
  "registry/awkward.yaml": `registry: 1
operations:
  notes.awkward:
    get: /awkward
    out: {seen: string, seenByModule: string, effect: string, hello: string, loaded: string, pinoVersion: string, names: string, old: string, text: string, here: string, optional: string}
    run: registry/handlers/awkward.ts#awkward
    guard: open
`,
};

const packages: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "words-of-place": {
    "package.json": `{"name": "words-of-place", "version": "1.0.0", "license": "MIT", "main": "lib/index.js", "dependencies": {"shared": "1", "@types/none": "1"}}`,
    "lib/index.js": `const {readFileSync} = require("fs"); const {join} = require("path");
exports.words = readFileSync(join(__dirname, "../data/words.txt"), "utf8").trim(); exports.shared = require("shared").shared;`,
    "lib/index.d.ts": `export const words: string; export const shared: string;`,
    "data/words.txt": "words\n",
    "README.md": "# Words",
    LICENSE: "License of words",
  },
  "words-of-place/node_modules/shared": {
    "package.json": `{"name": "shared", "version": "1.0.0", "license": "ISC", "main": "index.js"}`,
    "index.js": `exports.shared = "one";`,
  },
  shared: {
    "package.json": `{"name": "shared", "version": "2.0.0", "license": {"type": "BSD"}, "type": "module", "main": "index.js"}`,
    "index.js": `export const shared = "two";`,
    "index.d.ts": `export const shared: string;`,
  },
  // ECMAScript and CommonJS that look at what the author has set up before.
  "sees-setup": {
    "package.json": `{"name": "sees-setup", "version": "1.0.0", "main": "index.js"}`,
    "index.js": `exports.seen = String(globalThis.setup); exports.folder = __dirname;`,
    "index.d.ts": `export const seen: string;`,
  },
  "sees-setup-as-module": {
    "package.json": `{"name": "sees-setup-as-module", "version": "1.0.0", "type": "module", "main": "index.js"}`,
    "index.js": `export const seenByModule = String(globalThis.setup);`,
    "index.d.ts": `export const seenByModule: string;`,
  },
  "for-effect": {
    "package.json": `{"name": "for-effect", "version": "1.0.0", "type": "module", "sideEffects": false}`,
    "register.js": `globalThis.effect = "registered";`,
    "register.d.ts": `export {};`,
  },
  "in-many-languages": {
    "package.json": `{"name": "in-many-languages", "version": "1.0.0", "type": "module", "main": "index.js"}`,
    "index.js":
      "export const hello = async (of) => (await import(`./languages/${of}.js`)).default;",
    "index.d.ts": `export function hello(of: string): Promise<string>;`,
    "languages/de.js": `export default "hallo";`,
  },
  "has-native-code": {
    "package.json": `{"name": "has-native-code", "version": "1.0.0", "main": "index.js", "dependencies": {"bindings": "1"}}`,
    "index.js": `exports.loaded = require("bindings")();`,
    "index.d.ts": `export const loaded: string;`,
    "build/Release/code.node": "native",
    "build/Makefile": "/home/somebody",
  },
  bindings: {
    "package.json": `{"name": "bindings", "version": "1.0.0", "main": "index.js"}`,
    "index.js": `const parent = module.parent?.filename ?? new Error().stack.split("\\n")[2];
module.exports = () => require("fs").readFileSync(require("path").join(__dirname, "../has-native-code/build/Release/code.node"), "utf8");`,
  },
  // Another version than the runtime's own.
  pino: {
    "package.json": `{"name": "pino", "version": "1.2.3", "main": "pino.js"}`,
    "pino.js": `exports.version = "1.2.3"; exports.folder = __dirname;`,
    "pino.d.ts": `export const version: string;`,
  },
  "loaded-late": {
    "package.json": `{"name": "loaded-late", "version": "1.0.0", "license": "SEE LICENSE IN TERMS", "main": "index.js"}`,
    "index.js": `exports.late = "late";`,
  },
};

const build = (...args: readonly string[]) => cli(root, "build", ...args);

beforeAll(async () => {
  ({ root, remove } = writeProject({}));
  expect((await cli(root, "init", ".", "--yes")).code).toBe(0);
  expect((await cli(root, "generate")).code).toBe(0);
  mkdirSync(join(root, "node_modules/@types"), { recursive: true });
  symlinkSync(repository, join(root, "node_modules/opwright"));
  for (const name of ["@types/node", "@types/express", "express", "typescript"])
    symlinkSync(join(repository, "node_modules", name), join(root, "node_modules", name));
  for (const [name, files] of Object.entries(packages))
    for (const [path, text] of Object.entries(files)) write(`node_modules/${name}/${path}`, text);
  write("registry/handlers/notes.ts", handler);
  for (const [path, text] of Object.entries(awkward)) write(path, text);
  const settings = JSON.parse(readFileSync(join(root, "tsconfig.json"), "utf8"));
  settings.compilerOptions.allowJs = true;
  write("tsconfig.json", JSON.stringify(settings));
  expect((await cli(root, "generate")).code).toBe(0);
  write("assets/greetings/en.txt", "Good morning\n");
  write("server.js", "");
  write("opwright.config.mjs", `export default { build: { files: ["assets"] } };\n`);
});
afterAll(() => {
  remove();
  rmSync(parent, { recursive: true, force: true });
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** The bytes of all files of a folder, by their path. */
function contents(folder: string): Readonly<Record<string, string>> {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  return Object.fromEntries(
    paths
      .filter((path) => statSync(join(folder, path)).isFile())
      .map((path) => [
        path,
        createHash("sha256")
          .update(readFileSync(join(folder, path)))
          .digest("hex"),
      ]),
  );
}

/** The path of a configuration of its own: one that was read stays as it was. */
function configuration(text: string): string {
  const path = `configuration-${(configurations += 1)}.mjs`;
  write(path, `export default ${text};\n`);
  return join(root, path);
}
let configurations = 0;

/** Copies an artefact where no packages are above it, and runs it there. */
async function served(from: string, work: (url: string, cwd: string) => Promise<void>) {
  const cwd = mkdtempSync(join(parent, "moved-"));
  cpSync(from, cwd, { recursive: true });
  const service = await startProcess(
    { SETTLE_SECONDS: "0", NODE_OPTIONS: "--enable-source-maps" },
    { entry: join(cwd, "server.js"), cwd },
  );
  try {
    await work(service.url, cwd);
  } catch (cause) {
    throw new Error(service.output(), { cause });
  } finally {
    service.child.kill("SIGTERM");
  }
  expect(await service.exited).toBe(0);
  return service.output();
}

test("code finds its files, packages theirs and each its own version, and faults their lines", async () => {
  const { code, stdout, stderr } = await build();
  expect([code, stderr]).toEqual([0, expect.not.stringContaining("error")]);
  expect(stdout).toMatch(/^build: [\d.]+ MB and [\d.]+ MB of native modules, of \d+ packages\n$/);
  const output = await served(join(root, "build"), async (url, cwd) => {
    const greet = async (name: string) => {
      const answer = await fetch(`${url}/hello/${name}`);
      return [answer.status, ((await answer.json()) as { greeting?: string }).greeting];
    };
    expect(await greet("Ann")).toEqual([200, "Good morning Ann words two one late"]);
    expect(await greet("where")).toEqual([200, join(cwd, "dist/registry/handlers/notes.js")]);
    expect(await greet("nobody")).toEqual([500, undefined]);
  });
  expect(output).toMatch(
    /"Error: there is nobody\\n +at greet \(\S+\/moved-\w+\/registry\/handlers\/notes\.ts:13:32\)/,
  );
});

test("code means in the bundle what it means without", async () => {
  await served(join(root, "build"), async (url) => {
    const answer = await fetch(`${url}/awkward`);
    expect([answer.status, await answer.json()]).toEqual([
      200,
      {
        seen: "done",
        seenByModule: "done",
        effect: "registered",
        hello: "hallo",
        loaded: "native",
        pinoVersion: "1.2.3",
        names: "Same Same load load",
        old: "handlers/old.cjs",
        text: "import.meta.url",
        here: "/dist/registry/handlers/awkward.js",
        optional: "not there",
      },
    ]);
  });
  const own = JSON.parse(
    readFileSync(join(root, "build/node_modules/@opwright/pino/package.json"), "utf8"),
  );
  expect(own.version).not.toBe("1.2.3");
  expect(existsSync(join(root, "build/node_modules/has-native-code/build/Makefile"))).toBe(false);
});

test("two versions that both stay whole are where each is found", async () => {
  const both = join(parent, "both");
  const config = configuration(`{ build: { files: ["assets"], whole: ["shared"] } }`);
  expect((await build("--to", both, "--config", config)).code).toBe(0);
  const version = (path: string): unknown =>
    JSON.parse(readFileSync(join(both, "node_modules", path, "package.json"), "utf8")).version;
  expect([version("shared"), version("words-of-place/node_modules/shared")]).toEqual([
    "2.0.0",
    "1.0.0",
  ]);
  await served(both, async (url) => {
    const answer = await fetch(`${url}/hello/Ann`);
    expect(await answer.json()).toEqual({ greeting: "Good morning Ann words two one late" });
  });
});

test("what isn't code, or is code of others' types and manuals, stays out", () => {
  const files = Object.keys(contents(join(root, "build")));
  const places = files.filter((path) => /words-of-place|shared|loaded-late/.test(path));
  expect(places.sort()).toEqual([
    "node_modules/loaded-late/index.js",
    "node_modules/loaded-late/package.json",
    // The first version; the second is bundled.
    "node_modules/shared/index.js",
    "node_modules/shared/package.json",
    "node_modules/words-of-place/LICENSE",
    "node_modules/words-of-place/data/words.txt",
    "node_modules/words-of-place/lib/index.js",
    "node_modules/words-of-place/package.json",
  ]);
  for (const path of files) expect(path).not.toMatch(/\.env|^registry\/|^node_modules\/typescript/);
  const licenses = readFileSync(join(root, "build/LICENSES.txt"), "utf8");
  expect(licenses).toContain("words-of-place 1.0.0\n\nLicense of words\n");
  const sbom = JSON.parse(readFileSync(join(root, "build/sbom.cdx.json"), "utf8"));
  const told = sbom.components
    .filter(({ name }: { name: string }) => /^(?:words|shared|loaded)/.test(name))
    .map(({ purl, licenses: [license] }: { purl: string; licenses: unknown[] }) => [purl, license]);
  expect(told).toEqual([
    ["pkg:npm/loaded-late@1.0.0", { license: { name: "SEE LICENSE IN TERMS" } }],
    ["pkg:npm/shared@1.0.0", { expression: "ISC" }],
    ["pkg:npm/shared@2.0.0", { license: { name: "BSD" } }],
    ["pkg:npm/words-of-place@1.0.0", { expression: "MIT" }],
  ]);
  const words = sbom.dependencies.find(({ ref }: { ref: string }) => /words/.test(ref));
  expect(words.dependsOn).toEqual(["pkg:npm/shared@1.0.0"]);
});

test("it lists what it is made of", () => {
  const checked = execFileSync("sha256sum", ["--check", "--quiet", "SHA256SUMS"], {
    cwd: join(root, "build"),
    encoding: "utf8",
  });
  expect(checked).toBe("");
});

test("it is the same to the byte when it is built again, over the earlier one", async () => {
  const first = contents(join(root, "build"));
  expect((await build()).code).toBe(0);
  expect(contents(join(root, "build"))).toEqual(first);
});

test("two processes that build one artefact at once both end well, and everybody may read it", async () => {
  const first = contents(join(root, "build"));
  const together = join(parent, "together");
  // Of a process that was killed, and of somebody.
  cpSync(join(root, "build"), `${together}.new-999999999`, { recursive: true });
  mkdirSync(`${together}.old-999999998`);
  writeFileSync(join(`${together}.old-999999998`, "letter.txt"), "mine");
  const bin = join(repository, "bin/opwright.mjs");
  const before = process.umask(0o077);
  const both = await Promise.all(
    [1, 2].map(
      () =>
        new Promise((resolve) => {
          const args = [bin, "build", "--to", together];
          execFile(process.execPath, args, { cwd: root, encoding: "utf8" }, (error, stdout) =>
            resolve([error, stdout]),
          );
        }),
    ),
  );
  process.umask(before);
  const said = [null, expect.stringMatching(/^\S*together: \S+ MB and /)];
  expect(both).toEqual([said, said]);
  expect(contents(together)).toEqual(first);
  expect(
    readdirSync(parent)
      .filter((name) => name.startsWith("together"))
      .sort(),
  ).toEqual(["together", "together.old-999999998"]);
  for (const path of [".", "server.js", "generated/migrations", "node_modules/opwright"])
    expect([path, statSync(join(together, path)).mode & 0o004]).toEqual([path, 0o004]);
});

test("what an earlier compiler has left is not bundled", async () => {
  const old = join(root, "dist/generated/server.js");
  mkdirSync(dirname(old), { recursive: true });
  writeFileSync(old, 'throw new Error("an old server");');
  const settings = JSON.parse(readFileSync(join(root, "tsconfig.json"), "utf8"));
  const kept = JSON.stringify(settings);
  settings.compilerOptions.noEmit = true;
  write("tsconfig.json", JSON.stringify(settings));
  const { code } = await build("--to", join(parent, "anew"));
  write("tsconfig.json", kept);
  expect([code, contents(join(parent, "anew"))]).toEqual([0, contents(join(root, "build"))]);
});

test("what somebody else wrote is never replaced", async () => {
  const mine = join(parent, "mine");
  mkdirSync(mine);
  writeFileSync(join(mine, "package.json"), "{}");
  const refused = await build("--to", mine);
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining("mine is there and is no artefact"),
  ]);
  expect(readdirSync(mine)).toEqual(["package.json"]);
  // Data that a service left in an artefact that was run where it was built.
  const served = join(parent, "served");
  expect((await build("--to", served)).code).toBe(0);
  mkdirSync(join(served, ".data"));
  writeFileSync(join(served, ".data/service.db"), "data");
  const kept = await build("--to", served);
  expect([kept.code, kept.stderr]).toEqual([
    2,
    expect.stringContaining("has .data/service.db, which no build wrote"),
  ]);
  expect(readFileSync(join(served, ".data/service.db"), "utf8")).toBe("data");
  for (const source of ["registry", "registry/build", "generated/x", "assets/x"]) {
    const inside = await build("--to", join(root, source));
    expect([source, inside.code]).toEqual([source, 2]);
  }
  symlinkSync(join(parent, "nowhere"), join(parent, "link"));
  const dangling = await build("--to", join(parent, "link"));
  expect([dangling.code, dangling.stderr]).toEqual([2, expect.stringContaining("leads nowhere")]);
  expect(existsSync(join(root, "registry/notes.yaml"))).toBe(true);
});

test("a file that code names and nobody copies is told", async () => {
  // Over the earlier one, however it is written.
  const config = configuration('{ build: { folder: "build/" } }');
  const { code, stderr } = await build("--config", config);
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining("not in it: assets/greetings/en.txt, which code of yours names"),
  ]);
  expect(existsSync(join(root, "build/server.js"))).toBe(true);
  expect(existsSync(join(root, "build/assets"))).toBe(false);
});

test("files are found that the project's own command makes", async () => {
  const make = `import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
execFileSync(process.execPath, ["node_modules/typescript/bin/tsc"]);
mkdirSync("made", { recursive: true });
writeFileSync("made/styles.css", "body {}");
`;
  write("make.mjs", make);
  const to = join(parent, "with-made");
  const config = configuration(`{ dev: { build: "node make.mjs" }, build: { files: ["made"] } }`);
  const { code, stderr } = await build("--to", to, "--config", config);
  expect([code, stderr]).toEqual([0, expect.not.stringContaining("made")]);
  expect(readFileSync(join(to, "made/styles.css"), "utf8")).toBe("body {}");
});

test("a project that isn't right isn't built, and keeps what it had", async () => {
  const before = contents(join(root, "build"));
  const trying = async (path: string, change: (text: string) => string) => {
    const text = readFileSync(join(root, path), "utf8");
    write(path, change(text));
    const { code, stdout, stderr } = await build();
    write(path, text);
    return [code, stdout + stderr] as const;
  };
  expect(
    await trying("registry/notes.yaml", (text) => text.replace("pinned: boolean", "")),
  ).toEqual([1, expect.stringContaining("opwright generate")]);
  expect(
    await trying("registry/handlers/notes.ts", (text) => text.replace("join(", "jion(")),
  ).toEqual([1, expect.stringContaining("the project does not compile")]);
  expect(
    await trying(
      "registry/handlers/notes.ts",
      (text) => `${text}\n// @ts-expect-error it isn't there\nimport "not-there";\n`,
    ),
  ).toEqual([
    2,
    expect.stringContaining(
      "dist/registry/handlers/notes.js imports not-there, which is not installed",
    ),
  ]);
  for (const [config, told] of [
    [`{ build: { files: ["nowhere"] } }`, "build.files names nowhere, which is not in the project"],
    [`{ build: { files: [".."] } }`, "build.files names .., which is not in the project"],
    [`{ build: { files: "assets" } }`, "build.files in"],
    [`{ build: { files: ["server.js"] } }`, "build.files names server.js"],
    [`{ build: { whole: ["nothing"] } }`, "the package nothing is not installed"],
    [`{ build: { entry: "dist/other.js" } }`, "the compiled server is not at dist/other.js"],
    [`{ build: { to: "x" } }`, "has an unknown key build.to"],
  ] as const) {
    const { code, stderr } = await build("--config", configuration(config));
    expect([code, stderr]).toEqual([2, expect.stringContaining(told)]);
  }
  expect(contents(join(root, "build"))).toEqual(before);
});
