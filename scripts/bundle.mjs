// dist/cli, dist/served and dist/pages: the command line, the runtime and the pages in a few files each. Loading them file
// by file takes a tenth of the time for generating 1 000 operations, and a third of the time in which a service starts.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** What the package exports of the runtime, by its file in dist/served. */
const exported = {
  runtime: "dist/runtime/index.js",
  testing: "dist/runtime/testing/index.js",
};

/** Packages of which each generation needs something, and which load quicker from the bundle. */
const everyTime = ["ajv", "commander", "handlebars", "indefinite", "pluralize", "yaml"];

/**
 * Bundles what is compiled in dist/generator and dist/runtime, and the pages with their styles. `isFull` is for a package that
 * is published; otherwise large packages stay where they are installed, which saves a second.
 */
export function bundle(root, { isFull = true } = {}) {
  for (const folder of ["dist/cli", "dist/served", "dist/pages"])
    rmSync(join(root, folder), { recursive: true, force: true });
  bundleCommandLine(root, isFull);
  bundleRuntime(root);
  bundlePages(root);
}

/**
 * The scripts of the pages, for browsers; what they share is in files of its own. The packages that are in them are named
 * beside the runtime, since all in dist/pages is served.
 */
function bundlePages(root) {
  const { metafile } = bundled(root, {
    entryPoints: {
      reference: "pages/reference/main.tsx",
      operations: "pages/operations/main.tsx",
      events: "pages/events/main.tsx",
      console: "pages/console/main.tsx",
      mail: "pages/mail-frame/main.ts",
      style: "pages/design/style.css",
    },
    outdir: "dist/pages",
    chunkNames: "part-[hash]",
    platform: "browser",
    target: ["es2023", "chrome123", "firefox120", "safari17.5"],
    minify: true,
    jsx: "automatic",
    jsxImportSource: "preact",
    // Its server comes with it, so that running the service from a clone needs no more packages.
    alias: {
      "socket.io-client": join(root, "node_modules/socket.io/client-dist/socket.io.esm.min.js"),
    },
    tsconfigRaw: {},
    legalComments: "none",
  });
  const packages = licensed(root, Object.keys(metafile.inputs)).map(
    ({ name, version, license, text }) => ({ name, version, license, texts: [text] }),
  );
  writeFileSync(
    join(root, "dist/served/packages-of-pages.json"),
    `${JSON.stringify(packages, null, 2)}\n`,
  );
}

/**
 * With all packages that it needs, so that who runs a service installs none of them. Those that are optional stay outside.
 */
function bundleCommandLine(root, isFull) {
  const { metafile } = bundled(root, {
    entryPoints: ["dist/generator/cli/main.js", "dist/generator/compile/ajv-thread.js"],
    outdir: "dist/cli",
    entryNames: "[name]",
    external: isFull
      ? Object.keys(requireFrom(root)("./package.json").peerDependencies)
      : installed(root).filter((name) => !everyTime.includes(name)),
    // Packages that are no modules of ECMAScript ask for Node's own, and for their file, with these.
    banner: {
      js: [
        'import { createRequire as requireOf } from "node:module";',
        "const require = requireOf(import.meta.url);",
        "const { filename: __filename, dirname: __dirname } = import.meta;",
      ].join(" "),
    },
  });
  writeFileSync(join(root, "dist/cli/LICENSES.txt"), licenses(root, Object.keys(metafile.inputs)));
}

/** No package is in it: a service has its own. */
function bundleRuntime(root) {
  bundled(root, { entryPoints: exported, outdir: "dist/served", external: installed(root) });
}

function bundled(root, options) {
  return requireFrom(root)("esbuild").buildSync({
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node20",
    metafile: true,
    logLevel: "warning",
    ...options,
  });
}

function installed(root) {
  const { dependencies, devDependencies, peerDependencies } = requireFrom(root)("./package.json");
  return Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies });
}

function requireFrom(root) {
  return createRequire(join(root, "package.json"));
}

/** The licenses of the packages of which something is in the bundle. */
function licenses(root, inputs) {
  return licensed(root, inputs)
    .map(({ name, version, text }) => `${name} ${version}\n\n${text}\n`)
    .join("\n\n");
}

/** The packages of which something is in a bundle, with their licenses. */
function licensed(root, inputs) {
  const packages = inputs.flatMap(
    (path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
  );
  return [...new Set(packages)].sort().map((path) => {
    const manifest = JSON.parse(readFileSync(join(root, path, "package.json"), "utf8"));
    const { name, version, license } = manifest;
    const file = readdirSync(join(root, path)).find((one) => /^licen[cs]e/i.test(one));
    if (file === undefined) throw new Error(`${name} has no license to go along with its code`);
    return { name, version, license, text: readFileSync(join(root, path, file), "utf8").trim() };
  });
}
