// dist/cli: the command line in a few files, since to find and read 340 takes it a tenth of what it needs for 1 000 operations.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** Packages that every generation loads; the others stay where they are installed. */
const inside = ["ajv", "commander", "handlebars", "yaml"];

/** Bundles what is compiled in dist/generator. Without esbuild, which only development has, there is no bundle. */
export function bundle(root) {
  const folder = join(root, "dist/cli");
  rmSync(folder, { recursive: true, force: true });
  const require = createRequire(join(root, "package.json"));
  if (!existsSync(join(root, "node_modules/esbuild"))) return;
  const { dependencies, devDependencies, peerDependencies } = require("./package.json");
  const installed = Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies });
  const { metafile } = require("esbuild").buildSync({
    absWorkingDir: root,
    entryPoints: ["dist/generator/cli/main.js", "dist/generator/emit/ajv-thread.js"],
    outdir: "dist/cli",
    entryNames: "[name]",
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node20",
    external: installed.filter((name) => !inside.includes(name)),
    // Packages that are no modules of ECMAScript ask for Node's own with this.
    banner: {
      js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
    },
    metafile: true,
    logLevel: "warning",
  });
  writeFileSync(join(folder, "LICENSES.txt"), licenses(root, Object.keys(metafile.inputs)));
}

/** The licenses of the packages of which something is in the bundle. */
function licenses(root, inputs) {
  const packages = inputs.flatMap(
    (path) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
  );
  return [...new Set(packages)]
    .sort()
    .map((path) => {
      const { name, version } = JSON.parse(readFileSync(join(root, path, "package.json"), "utf8"));
      const file = readdirSync(join(root, path)).find((one) => /^licen[cs]e/i.test(one));
      if (file === undefined) throw new Error(`${name} has no license to go along with its code`);
      return `${name} ${version}\n\n${readFileSync(join(root, path, file), "utf8").trim()}\n`;
    })
    .join("\n\n");
}
