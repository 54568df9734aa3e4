// What `npm run build` bundles: the command line brings its packages along, so that who runs a service installs the runtime's
// alone.
import { readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = new URL("../..", import.meta.url).pathname;
const { dependencies, peerDependencies } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
) as Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The packages that the modules of a folder import, from outside it. */
function packagesOf(folder: string): readonly string[] {
  const files = readdirSync(join(root, folder)).filter((name) => name.endsWith(".js"));
  expect(files.length).toBeGreaterThan(5);
  const named = files.flatMap((name) => {
    const text = readFileSync(join(root, folder, name), "utf8");
    // As esbuild prints them: statements begin a line, and calls have a literal.
    const statements = text.matchAll(/^(?:import|export)\b[^;]*?(?: from )?"([^"]+)";$/gm);
    const calls = text.matchAll(/\bimport\("([^"]+)"\)/g);
    return [...statements, ...calls].map(([, specifier = ""]) => specifier);
  });
  const packages = named
    // Texts of messages and templates look like calls.
    .filter((specifier) => /^[@a-z]/.test(specifier) && !isBuiltin(specifier))
    .map((specifier) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? "");
  return [...new Set(packages)].sort();
}

test("the command line imports nothing but what is optional", () => {
  expect(packagesOf("dist/cli")).toEqual(["@modelcontextprotocol/sdk", "rolldown"]);
  expect(Object.keys(peerDependencies ?? {})).toEqual(
    expect.arrayContaining(["@modelcontextprotocol/sdk", "rolldown"]),
  );
});

test("every package that is installed is the runtime's", () => {
  const used = packagesOf("dist/served");
  const optional = Object.keys(peerDependencies ?? {});
  // These are loaded when they are first needed, by a `require` of their own.
  const late = ["@orama/stemmers", "libsql"];
  expect([...used.filter((name) => !optional.includes(name)), ...late].sort()).toEqual(
    Object.keys(dependencies ?? {}).sort(),
  );
});
