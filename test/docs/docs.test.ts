// README and docs are tried: registries generate, commands exist, tables are current, links lead somewhere.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { errors } from "../../runtime/contract/errors.js";
import { catalogue } from "../../generator/families/catalogue.js";
import { cli } from "../generator/cli.js";
import { writeProject } from "../generator/scenario.js";

const root = new URL("../..", import.meta.url).pathname;
const pages = [
  "README.md",
  "CHANGELOG.md",
  "SECURITY.md",
  "CONTRIBUTING.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];
const textOf = (page: string): string => readFileSync(join(root, page), "utf8");

const service =
  "registry: 1\nservice: {name: demo, title: Demo, version: 1.0.0}\npolicies: {open: []}\n";
const task =
  "registry: 1\ntypes:\n  Task: {title: string, state: [open, doing], project: uuid, due: date-time?}\n";
const functions = {
  "registry/handlers/tasks.ts": "export const complete = (input: unknown) => input as never;\n",
  "registry/shop.ts": "export const send = async () => undefined;\n",
  "registry/errors.ts": "export const envelope = () => ({ errors: {} });\n",
  "registry/handlers/visit.ts": "export const visit = () => undefined;\n",
  "registry/handlers/pay.ts": "export const pay = () => undefined;\n",
  "registry/handlers/receipt.ts": "export const receipt = () => undefined;\n",
  "registry/scan.ts": "export const scan = async () => undefined;\n",
  "registry/jobs.ts":
    "export const resize = async () => undefined;\nexport const nightly = resize;\nexport const remind = resize;\nexport const rate = resize;\n",
  "registry/mail.ts": "export const render = () => null;\n",
  "registry/handlers/stock.ts": "export const stock = () => undefined;\n",
  "registry/handlers/label.ts": "export const label = () => '';\n",
  "registry/handlers/export.ts": "export const exportAll = () => '';\n",
  "registry/handlers/prices.ts": "export const prices = () => [];\n",
  "registry/people.ts":
    "export const eraseFiles = () => undefined;\nexport const exportFiles = () => [];\n",
  "registry/orders.ts": "export const slug = () => ''; export const due = () => '2030-01-01';",
  "registry/hooks/tasks.ts":
    "export const check = () => undefined;\nexport const notArchived = () => undefined;\n",
  "registry/handlers/shop.ts":
    "export const order = (input: unknown) => input as never;\nexport const totals = order;\nexport const pay = order;\n",
  "registry/migrations/parcels.ts": "export const toGrams = () => 0;\n",
  "registry/hooks/shop.ts": "export const isOpen = () => undefined;\n",
  "registry/hooks/polite.ts": "export const polite = () => undefined;\n",
  "registry/partner.ts": "export const verify = () => null;\nexport const resolve = () => null;\n",
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

/** Pages whose registries build on each other: tests of their own follow them from top to bottom. */
const followed = ["docs/first-service.md", "docs/recipes.md"];

test.each(pages.filter((page) => !followed.includes(page)))(
  "the registries in %s generate",
  async (page) => {
    const blocks = [...textOf(page).matchAll(/^```yaml\n([^]*?)^```$/gm)].map(
      ([, text = ""]) => text,
    );
    for (const block of blocks) {
      const policies = /^policies:/m.test(block)
        ? block.replace(/^policies:/m, "policies:\n  open: []")
        : block;
      const needsTask = /\bTask\b/.test(block) && !/^\s+Task:/m.test(block);
      const files = {
        ...(/^service:\n  name:/m.test(block)
          ? { "registry/service.yaml": block }
          : {
              "registry/service.yaml": /^policies:/m.test(block)
                ? service.replace(/^policies:.*\n/m, "")
                : service,
              "registry/page.yaml": policies,
            }),
        ...functions,
        ...(needsTask ? { "registry/task.yaml": task } : {}),
      };
      const project = writeProject(files);
      const { code, stdout } = await cli(project.root, "generate");
      expect([code, code === 0 ? "" : stdout], block).toEqual([0, ""]);
      project.remove();
    }
  },
);

/** What the examples of docs/client.md take as given. */
const given = `
declare const login: string;
declare const password: string;
declare const tenant: string;
declare const project: string;
declare const id: string;
declare const rev: number;
declare const file: Blob;
declare const localStorage: { getItem(key: string): string | null; setItem(key: string, value: string): void; removeItem(key: string): void };
`;

test("the examples of docs/client.md compile against the client", () => {
  const blocks = [...textOf("docs/client.md").matchAll(/^```ts\n([^]*?)^```$/gm)].map(
    ([, text = ""]) => text,
  );
  const ofClient = blocks.filter((block) => !block.includes("opwright/config"));
  expect(ofClient.length).toBe(blocks.length - 1);
  const folder = mkdtempSync(join(root, "node_modules/.docs-"));
  // One module: a page is read from top to bottom.
  const program = ofClient.join("\n").replaceAll("ApiError, fetchOf", "fetchOf");
  writeFileSync(
    join(folder, "page.ts"),
    `import { ApiError } from "@opwright/tracker-client";\n${given}${program}`,
  );
  const client = join(root, "generated/client");
  const options = {
    noEmit: true,
    target: "ES2022",
    lib: ["ES2022", "DOM"],
    types: [],
    module: "ESNext",
    moduleResolution: "bundler",
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    paths: {
      "@opwright/tracker-client": [join(client, "index.ts")],
      "@opwright/tracker-client/*": [join(client, "*.ts")],
    },
  };
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: options, include: ["page.ts"] }),
  );
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { stdout } = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" });
  rmSync(folder, { recursive: true });
  expect(stdout).toBe("");
});

/** The project that a page is: its one registry, and its blocks of code that begin with their path. */
async function projectOf(page: string, include: readonly string[], more: object) {
  const text = textOf(page);
  const [registry = "", ...others] = [...text.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(
    ([, block = ""]) => block,
  );
  expect(others).toEqual([]);
  const code = [...text.matchAll(/^```ts\n\/\/ ((?:registry|test)\/\S+)\n([^]*?)^```$/gm)].map(
    ([, path = "", block = ""]) => [path, block] as const,
  );
  expect(code).toHaveLength(text.match(/^```ts$/gm)?.length ?? 0);
  const project = writeProject({
    "registry/service.yaml": service.replace(/^policies:.*\n/m, ""),
    "registry/page.yaml": registry,
    ...Object.fromEntries(code),
    "package.json": JSON.stringify({ type: "module" }),
    "tsconfig.json": JSON.stringify({
      compilerOptions: {
        target: "ES2022",
        module: "NodeNext",
        moduleResolution: "NodeNext",
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: true,
        ...more,
      },
      include,
    }),
  });
  mkdirSync(join(project.root, "node_modules/@types"), { recursive: true });
  symlinkSync(root, join(project.root, "node_modules/opwright"));
  symlinkSync(
    join(root, "node_modules/@types/node"),
    join(project.root, "node_modules/@types/node"),
  );
  const { code: ended, stdout } = await cli(project.root, "generate");
  expect([ended, ended === 0 ? "" : stdout]).toEqual([0, ""]);
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const compiled = spawnSync(process.execPath, [tsc, "-p", project.root], { encoding: "utf8" });
  return { ...project, faults: compiled.stdout };
}

test("the code of docs/handlers.md compiles against what its registry generates", async () => {
  const options = { noEmit: true, lib: ["ES2023", "DOM"], types: [] };
  const { faults, remove } = await projectOf("docs/handlers.md", ["registry/**/*.ts"], options);
  remove();
  expect(faults).toBe("");
});

test("the tests of docs/testing.md compile and pass, in Node's own runner", async () => {
  const options = { outDir: "dist", rootDir: ".", lib: ["ES2023"], types: ["node"] };
  const include = ["registry", "generated", "test"];
  const { root: folder, faults, remove } = await projectOf("docs/testing.md", include, options);
  expect(faults).toBe("");
  const files = readdirSync(join(folder, "dist/test")).map((name) => `dist/test/${name}`);
  const { status, stdout } = spawnSync(process.execPath, ["--test", ...files], {
    cwd: folder,
    encoding: "utf8",
    // A runner that is started by another one reports to that one otherwise.
    env: { PATH: process.env["PATH"] },
  });
  expect([status, status === 0 ? "" : stdout]).toEqual([0, ""]);
  expect(stdout).toContain("pass 4");
  remove();
});

test("the pipelines of docs/ci.md are YAML, and their commands run", async () => {
  const blocks = [...textOf("docs/ci.md").matchAll(/^```yml\n([^]*?)^```$/gm)].map(
    ([, text = ""]) => text,
  );
  expect(blocks.length).toBe(3);
  const project = writeProject({ "registry/service.yaml": service });
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.test", ...args], {
      cwd: project.root,
    });
  expect((await cli(project.root, "generate")).code).toBe(0);
  git("init", "-q");
  git("add", "-A");
  git("commit", "-q", "-m", "first");
  git("update-ref", "refs/remotes/origin/main", "HEAD");
  // What is not ours is done by nothing; ours is what a runner's shell makes of each step.
  const stubs =
    `npx() { if [ "$1" = opwright ]; then shift; "${process.execPath}" "${root}bin/opwright.mjs" "$@"; fi; }\n` +
    // What is published has to be a file, and no repository of that name.
    'npm() { if [ "$1" = publish ]; then shift; command npm pack --dry-run "$@"; fi; }\ngh() { :; }\ngit() { if [ "$1" != fetch ]; then command git "$@"; fi; }\n';
  const env = {
    PATH: process.env["PATH"],
    BASE: "origin/main",
    GITHUB_STEP_SUMMARY: "summary.md",
    CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "main",
  };
  for (const block of blocks) {
    const steps: string[] = [];
    JSON.stringify(parse(block), (key, value: unknown) => {
      if (key === "run") steps.push(String(value));
      if (key === "script") steps.push((value as readonly string[]).join("\n"));
      return value;
    });
    expect(steps.join("\n")).toContain("npx opwright client pack");
    for (const step of steps) {
      const told = step.replaceAll("${{ github.base_ref }}", "main");
      const script = stubs + told.replaceAll(/\$\{\{[^}]*\}\}/g, "1");
      const { status, stdout, stderr } = spawnSync("bash", ["-e", "-c", script], {
        cwd: project.root,
        encoding: "utf8",
        env,
      });
      expect([step, status, status === 0 ? "" : stdout + stderr]).toEqual([step, 0, ""]);
    }
  }
  expect(readFileSync(join(project.root, "summary.md"), "utf8")).toContain("API changes since");
  expect(readdirSync(join(project.root, "dist"))).toEqual(["demo-client-1.0.0.tgz"]);
  project.remove();
}, 300_000);

test("every command that a page names exists", async () => {
  const known = (await cli(root, "--help")).stdout;
  const tracker = writeProject({});
  expect((await cli(tracker.root, "init", ".", "--template", "tracker")).code).toBe(0);
  const scripts = [root, tracker.root].flatMap((folder) => {
    const file = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    return Object.keys(file.scripts);
  });
  tracker.remove();
  for (const page of pages) {
    for (const [, command = ""] of textOf(page).matchAll(/(?:npx |\$ |`)opwright ([a-z]+)/g))
      expect([page, known.includes(`  ${command} `)]).toEqual([page, true]);
    for (const [, script = ""] of textOf(page).matchAll(/npm run ([a-z:]+)/g))
      expect([page, script, scripts.includes(script)]).toEqual([page, script, true]);
  }
});

test("the README's first example is a project of init, and answers as it says", async () => {
  const project = writeProject({});
  expect((await cli(project.root, "init", ".", "--yes")).code).toBe(0);
  const [example = ""] = /^registry: 1\ntypes:\n[^]*?(?=^```$)/m.exec(textOf("README.md")) ?? [];
  writeFileSync(join(project.root, "registry/notes.yaml"), example);
  for (const folder of ["registry/handlers", "test"])
    rmSync(join(project.root, folder), { recursive: true });
  expect((await cli(project.root, "generate")).code).toBe(0);
  mkdirSync(join(project.root, "node_modules/@types"), { recursive: true });
  symlinkSync(root, join(project.root, "node_modules/opwright"));
  for (const name of ["express", "@types/node"])
    symlinkSync(join(root, "node_modules", name), join(project.root, "node_modules", name));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [tsc, "-p", project.root], { stdio: "pipe" });
  const child = spawn(process.execPath, ["dist/generated/server.js"], {
    cwd: project.root,
    env: { PATH: process.env["PATH"], PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const url = await new Promise<string>((resolve, reject) => {
      let text = "";
      child.stdout.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        const [found] = /http:\/\/[^\s"/]+/.exec(text) ?? [];
        if (found !== undefined) resolve(found);
      });
      child.once("exit", () => reject(new Error(`the server ended: ${text}`)));
    });
    const post = async (body: object) => {
      const headers = { "content-type": "application/json" };
      const answer = await fetch(`${url}/notes`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      return (await answer.json()) as Readonly<Record<string, unknown>>;
    };
    const shown = [...textOf("README.md").matchAll(/^\{.*\}$/gm)].map(
      ([line]) => JSON.parse(line.replaceAll("[…]", "[]")) as object,
    );
    const [created, refused] = [await post({ text: "hello" }), await post({ txt: "hello" })];
    expect([created, refused].map((answer) => Object.keys(answer))).toEqual(
      shown.map((answer) => Object.keys(answer)),
    );
    expect([refused["detail"], refused["code"]]).toEqual([
      "The input does not match its schema.",
      "core.validation",
    ]);
  } finally {
    child.kill("SIGTERM");
    project.remove();
  }
});

describe("pages that follow from tables", () => {
  test("errors.md, diagnostics.md, functions.md, the routes of registry.md and llms.txt are current (node scripts/docs.mjs)", () => {
    const printed = execFileSync(
      process.execPath,
      [
        "--input-type=module",
        "-e",
        "const d = await import('./scripts/docs.mjs'); console.log(JSON.stringify([d.errorsPage(), d.diagnosticsPage(), d.registryPage(), d.llmsText(), d.functionsPage()]))",
      ],
      { cwd: root, encoding: "utf8" },
    );
    const pages = ["errors", "diagnostics", "registry"].map((name) => `docs/${name}.md`);
    pages.push("llms.txt", "docs/functions.md");
    expect(pages.map(textOf)).toEqual(JSON.parse(printed));
  });

  test("the charts of bench.md show its tables (node scripts/docs.mjs)", () => {
    const text =
      "const d = await import('./scripts/docs.mjs'); console.log(JSON.stringify(d.drawCharts()))";
    const printed = execFileSync(process.execPath, ["--input-type=module", "-e", text], {
      cwd: root,
      encoding: "utf8",
    });
    const charts = JSON.parse(printed) as Readonly<Record<string, string>>;
    expect(Object.keys(charts)).toHaveLength(4);
    for (const [path, chart] of Object.entries(charts)) {
      expect(textOf(path)).toBe(chart);
      expect(textOf("docs/bench.md")).toContain(`](${path.replace("docs/", "")})`);
      expect(chart).not.toContain("NaN");
    }
  });

  test("every function that the packages export is on its page", async () => {
    const page = textOf("docs/functions.md");
    for (const module of ["opwright/runtime", "opwright/testing"]) {
      const names = Object.keys((await import(module)) as object);
      expect(names.length).toBeGreaterThan(5);
      const missing = names.filter((name) => !new RegExp(`^- \`${name}[\`(]`, "m").test(page));
      expect([module, missing]).toEqual([module, []]);
    }
  });

  test("every code has its row", () => {
    for (const code of Object.keys(errors))
      expect(textOf("docs/errors.md")).toContain(`| \`${code}\` |`);
    for (const code of Object.keys(catalogue))
      expect(textOf("docs/diagnostics.md")).toContain(`## ${code} `);
  });
});

test("every variable of docs/running.md is a setting, and every setting is there", () => {
  const families = readdirSync(join(root, "runtime/families"))
    .map((name) => `runtime/families/${name}/settings.ts`)
    .filter((path) => existsSync(join(root, path)));
  const ofServer = ["settings", "engine-settings", "backup/settings"].map(
    (name) => `runtime/server/${name}.ts`,
  );
  const settings = [...ofServer, ...families].map(textOf).join("\n");
  const named = new Set([...settings.matchAll(/"([A-Z][A-Z_]+)"/g)].map(([, name]) => name));
  const documented = new Set(
    [...textOf("docs/running.md").matchAll(/^\| (`[A-Z_`, ]+`) \|/gm)].flatMap(([, cell = ""]) =>
      [...cell.matchAll(/[A-Z_]+/g)].map(([name]) => name),
    ),
  );
  expect([...documented].sort()).toEqual([...named].sort());
});
