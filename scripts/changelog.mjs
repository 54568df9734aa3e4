// Folds the files of changes/ into the unreleased part of CHANGELOG.md: node scripts/changelog.mjs [--check] [FOLDER].
// With --release VERSION that part then becomes the version's, with today's date, and a new one begins.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/** In the order in which the changes of one area are listed, each with how its entry begins. */
const kinds = {
  breaking: "**Breaking:** ",
  security: "**Security:** ",
  added: "",
  changed: "",
  fixed: "Fixed: ",
};

/** In the order in which a release lists them. */
const areas = [
  "Bounds and faults",
  "Queries and search",
  "Files",
  "Realtime",
  "Client",
  "Command line and pages",
  "Identity and tenants",
  "Documents and registry",
  "Service",
];

const orderOf = Object.keys(kinds);

/** A change from the text of its file: `{kind, area, text}`. Throws where the file isn't one. */
export function readChange(name, file) {
  const [, head = "", body = ""] = /^---\n([^]*?)\n---\n([^]*)$/.exec(file) ?? [];
  const { kind, area, ...others } = Object.fromEntries(
    head
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.split(/: */, 2)),
  );
  const text = body.trim().replaceAll(/\s*\n\s*/g, " ");
  const fault = (what) => new Error(`${name} ${what}`);
  if (!Object.hasOwn(kinds, kind ?? "")) throw fault(`has no kind of: ${orderOf.join(", ")}`);
  if (!areas.includes(area)) throw fault(`has no area of: ${areas.join(", ")}`);
  if (Object.keys(others).length > 0) throw fault(`has an unknown key: ${Object.keys(others)[0]}`);
  if (text === "") throw fault("has no text");
  return { kind, area, text };
}

/** The changelog with the changes in its unreleased part, each behind those that its area has. */
export function fold(changelog, changes) {
  const parts = changelog.split(/^(?=## )/m);
  const at = parts.findIndex((part) => part.startsWith("## Unreleased\n"));
  if (at === -1) throw new Error('CHANGELOG.md has no part "## Unreleased"');
  const sections = parts[at].split(/^(?=### )/m).map((section) => section.trimEnd());
  const sorted = [...changes].sort(
    (one, other) =>
      areas.indexOf(one.area) - areas.indexOf(other.area) ||
      orderOf.indexOf(one.kind) - orderOf.indexOf(other.kind),
  );
  for (const { kind, area, text } of sorted) {
    const entry = `- ${kinds[kind]}${text}`;
    const own = sections.findIndex((section) => section.split("\n", 1)[0] === `### ${area}`);
    if (own === -1) sections.push(`### ${area}\n\n${entry}`);
    else sections[own] += `\n${entry}`;
  }
  const isLast = at === parts.length - 1;
  parts[at] = `${sections.join("\n\n")}\n${isLast ? "" : "\n"}`;
  return parts.join("");
}

/** The changelog with its unreleased part as a version's. Throws if the version is none, or is there already. */
export function release(changelog, version, date) {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`${version} is no version such as 1.2.3`);
  if (changelog.includes(`\n## ${version}`)) throw new Error(`CHANGELOG.md has ${version} already`);
  return changelog.replace("## Unreleased\n", () => `## Unreleased\n\n## ${version} (${date})\n`);
}

function main() {
  const { values, positionals } = parseArgs({
    options: { check: { type: "boolean", default: false }, release: { type: "string" } },
    allowPositionals: true,
  });
  const root = positionals[0] ?? fileURLToPath(new URL("..", import.meta.url));
  const names = readdirSync(join(root, "changes"))
    .filter((name) => name.endsWith(".md") && name !== "README.md")
    .sort();
  const files = names.map((name) => join(root, "changes", name));
  const changes = files.map((file, at) => readChange(names[at], readFileSync(file, "utf8")));
  const changelog = join(root, "CHANGELOG.md");
  let folded = fold(readFileSync(changelog, "utf8"), changes);
  if (values.release !== undefined)
    folded = release(folded, values.release, new Date().toISOString().slice(0, 10));
  if (!values.check && (changes.length > 0 || values.release !== undefined)) {
    writeFileSync(changelog, folded);
    for (const file of files) rmSync(file);
  }
  const verb = values.check ? "can be folded" : "folded into CHANGELOG.md";
  process.stdout.write(
    `${changes.length} ${changes.length === 1 ? "change" : "changes"} ${verb}\n`,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    main();
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
