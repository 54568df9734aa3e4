// Scenarios in Markdown: a heading is a test, its code blocks are files (or links to what they hold), its report block is what must come out.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface Scenario {
  /** The Markdown file and the heading. */
  readonly file: string;
  readonly title: string;
  /** Files by path relative to the project. */
  readonly files: Readonly<Record<string, string>>;
  /** Targets of links, by path relative to the project. */
  readonly links: Readonly<Record<string, string>>;
  readonly report: string;
}

/** A service declaration that scenarios need not repeat. */
const usualService = `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
`;

/** All scenarios of a folder, in order. */
export function readScenarios(folder: string): readonly Scenario[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".md"))
    .sort()
    .flatMap((name) => parseScenarios(join(folder, name)));
}

function parseScenarios(file: string): readonly Scenario[] {
  const sections = readFileSync(file, "utf8").split(/^## /m).slice(1);
  return sections.map((section) => {
    const [title = ""] = section.split("\n", 1);
    const files: Record<string, string> = {};
    const links: Record<string, string> = {};
    let report = "";
    for (const [, kind, path, text = ""] of section.matchAll(/^```(\w+) ?(\S*)\n([^]*?)^```$/gm)) {
      if (kind === "report") report = text;
      else if (kind === "link") links[path ?? ""] = text.trim();
      else if (path !== undefined && path !== "") files[path] = text;
    }
    if (files["registry/service.yaml"] === undefined && title !== "there is no registry")
      files["registry/service.yaml"] = usualService;
    return { file, title, files, links, report };
  });
}

/** Writes a scenario's files to a new folder. */
export function writeProject(
  files: Readonly<Record<string, string>>,
  links: Readonly<Record<string, string>> = {},
): {
  readonly root: string;
  readonly remove: () => void;
} {
  const root = mkdtempSync(join(tmpdir(), "opwright-project-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  for (const [path, target] of Object.entries(links)) symlinkSync(target, join(root, path));
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) };
}

/** Puts a new report into the scenario's Markdown file (`npm run accept`). */
export function acceptReport({ file, title }: Scenario, report: string): void {
  const text = readFileSync(file, "utf8");
  const start = text.indexOf(`## ${title}\n`);
  const end = text.indexOf("\n## ", start + 1);
  const section = text.slice(start, end < 0 ? undefined : end);
  const block = `\`\`\`report\n${report}\`\`\``;
  const updated = section.includes("```report\n")
    ? section.replace(/```report\n[^]*?```/, () => block)
    : `${section.trimEnd()}\n\n${block}\n`;
  writeFileSync(file, text.slice(0, start) + updated + (end < 0 ? "" : text.slice(end)));
}
