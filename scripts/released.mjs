// Says whether a tag may be released: node scripts/released.mjs v0.3.0. It must be the version of package.json, the changelog must
// have its part, and no change may be left that isn't folded into it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** What forbids the release of a tag; empty if nothing does. */
export function faultsOf(tag, { version, changelog, changes }) {
  return [
    ...(tag === `v${version}` ? [] : [`package.json has ${version}, not ${tag}`]),
    ...(changelog.includes(`\n## ${version} (`) ? [] : [`CHANGELOG.md has no part ${version}`]),
    ...(changes.length === 0 ? [] : [`changes/ has ${changes.join(", ")}`]),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const read = (name) => readFileSync(join(root, name), "utf8");
  const faults = faultsOf(process.argv[2] ?? "", {
    version: JSON.parse(read("package.json")).version,
    changelog: read("CHANGELOG.md"),
    changes: readdirSync(join(root, "changes")).filter((name) => name !== "README.md"),
  });
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
