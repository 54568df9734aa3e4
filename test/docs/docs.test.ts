// README and docs are tried: registries generate, commands exist, tables are current, links lead somewhere.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { errors } from "../../runtime/contract/errors.js";
import { catalogue } from "../../generator/diagnostics.js";
import { startTestService } from "../acceptance/service.js";
import { engines } from "../engines.js";
import { cli } from "../generator/cli.js";
import { writeProject } from "../generator/scenario.js";

const root = new URL("../..", import.meta.url).pathname;
const pages = [
  "README.md",
  "CHANGELOG.md",
  "SECURITY.md",
  "CONTRIBUTING.md",
  ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`),
];
const textOf = (page: string): string => readFileSync(join(root, page), "utf8");

const service =
  "registry: 1\nservice: {name: demo, title: Demo, version: 1.0.0}\npolicies: {open: []}\n";
const task =
  "registry: 1\ntypes:\n  Task: {title: string, state: [open, doing], project: uuid, due: date-time?}\n";
const functions = {
  "registry/handlers/tasks.ts": "export const complete = (input: unknown) => input as never;\n",
  "registry/shop.ts": "export const send = async () => undefined;\n",
  "registry/hooks/tasks.ts":
    "export const check = () => undefined;\nexport const notArchived = () => undefined;\n",
};

test.each(pages)("%s links to what is there", (page) => {
  const links = [...textOf(page).matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(
    ([, link = ""]) => link,
  );
  const broken = links.filter(
    (link) => !/^https?:/.test(link) && !existsSync(join(root, dirname(page), link)),
  );
  expect(broken).toEqual([]);
});

test.each(pages)("the registries in %s generate", (page) => {
  const blocks = [...textOf(page).matchAll(/^```yaml\n([^]*?)^```$/gm)].map(
    ([, text = ""]) => text,
  );
  for (const block of blocks) {
    const policies = /^policies:/m.test(block)
      ? block.replace(/^policies:/m, "policies:\n  open: []")
      : block;
    const needsTask = /\bTask\b/.test(block) && !/^\s+Task:/m.test(block);
    const files = {
      "registry/service.yaml": /^policies:/m.test(block)
        ? service.replace(/^policies:.*\n/m, "")
        : service,
      "registry/page.yaml": policies,
      ...functions,
      ...(needsTask ? { "registry/task.yaml": task } : {}),
    };
    const project = writeProject(files);
    const { code, stdout } = cli(project.root, "generate");
    expect([code, code === 0 ? "" : stdout], block).toEqual([0, ""]);
    project.remove();
  }
});

test("every command that a page names exists", () => {
  const known = cli(root, "--help").stdout;
  for (const page of pages) {
    for (const [, command = ""] of textOf(page).matchAll(/(?:npx |\$ |`)opwright ([a-z]+)/g))
      expect([page, known.includes(`  ${command} `)]).toEqual([page, true]);
    for (const [, script = ""] of textOf(page).matchAll(/npm run ([a-z:]+)/g)) {
      const { scripts } = JSON.parse(textOf("package.json")) as {
        readonly scripts: Readonly<Record<string, string>>;
      };
      expect([page, script, script in scripts]).toEqual([page, script, true]);
    }
  }
});

test("the README's first request and its fault answer as it says", async () => {
  const [engine] = engines;
  if (engine === undefined) throw new Error("no engine");
  const running = await startTestService(engine);
  const created = await running.post("/projects", { name: "P", key: "PP" });
  expect(Object.keys(created.body).slice(0, 4)).toEqual([
    "id",
    "rev",
    "created_at",
    "last_update_at",
  ]);
  const refused = await running.post("/projects", { nme: "P" });
  expect([refused.body.detail, refused.body.code]).toEqual([
    "The input does not match its schema.",
    "core.validation",
  ]);
  await running.stop();
});

describe("pages that follow from tables", () => {
  test("errors.md and diagnostics.md are current (node scripts/docs.mjs)", () => {
    const printed = execFileSync(
      process.execPath,
      [
        "--input-type=module",
        "-e",
        "const d = await import('./scripts/docs.mjs'); console.log(JSON.stringify([d.errorsPage(), d.diagnosticsPage()]))",
      ],
      { cwd: root, encoding: "utf8" },
    );
    expect([textOf("docs/errors.md"), textOf("docs/diagnostics.md")]).toEqual(JSON.parse(printed));
  });

  test("every code has its row", () => {
    for (const code of Object.keys(errors))
      expect(textOf("docs/errors.md")).toContain(`| \`${code}\` |`);
    for (const code of Object.keys(catalogue))
      expect(textOf("docs/diagnostics.md")).toContain(`## ${code} `);
  });
});

test("every variable of docs/running.md is a setting, and every setting is there", () => {
  const settings = textOf("runtime/server/settings.ts");
  const named = new Set([...settings.matchAll(/"([A-Z][A-Z_]+)"/g)].map(([, name]) => name));
  const documented = new Set(
    [...textOf("docs/running.md").matchAll(/^\| (`[A-Z_`, ]+`) \|/gm)].flatMap(([, cell = ""]) =>
      [...cell.matchAll(/[A-Z_]+/g)].map(([name]) => name),
    ),
  );
  expect([...documented].sort()).toEqual([...named].sort());
});
