// opwright init: a project from a template. Never overwrites, and never asks without a terminal.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { name as namePattern } from "../load/format-parts.js";
import { writeWhole } from "../output/whole-file.js";
import { packageRoot, packageVersion } from "../project/package-root.js";
import { checkRegistry } from "../pipeline/generate.js";
import { exitCodes, UsageError, type ExitCode, type Terminal } from "./io.js";
import { configuredProject } from "./project.js";
import { hints, templates, type Template } from "./templates.js";

export interface InitFlags {
  readonly template?: Template;
  readonly yes?: boolean;
  /** Files for deploying as well; in a project that is there, only those. */
  readonly deploy?: boolean;
}

/** Writes a project. Files that are there already are kept and named. */
export async function runInit(
  folder: string,
  flags: InitFlags,
  terminal: Terminal,
): Promise<ExitCode> {
  const root = resolve(terminal.folder, folder);
  if (flags.deploy === true && existsSync(join(root, "registry"))) {
    const { project } = await configuredProject({}, root);
    const { expanded, findings } = await checkRegistry(project);
    if (findings.length > 0)
      throw new UsageError("the registry has findings: run `opwright check` first");
    const files = [...initFiles("container"), ...deploymentFiles(expanded.model.service)];
    writeMissing(root, files, terminal);
    if (!existsSync(join(root, "node_modules/rolldown")))
      terminal.note("opwright build needs the package rolldown: npm install --save-dev rolldown");
    return exitCodes.fine;
  }
  const template =
    flags.template ??
    (flags.yes === true || !terminal.isInteractive ? "minimal" : await askTemplate());
  if (template === undefined) return exitCodes.usage;
  const name = basename(root);
  const files = [
    ...templateFiles(template).map(([path, text]) =>
      path === "registry/service.yaml"
        ? ([path, nameService(text, name)] as const)
        : ([path, text] as const),
    ),
    ...projectFiles(name, template),
    ...(flags.deploy === true ? deploymentFiles(namesOf(name)) : []),
  ];
  writeMissing(root, files, terminal);
  terminal.note(
    `\nnext:\n${folder === "." ? "" : `  cd ${folder}\n`}  npm install\n  npx opwright generate\n  npm test\n${template === "tracker" ? "  npm run demo\n" : ""}  npm start`,
  );
  return exitCodes.fine;
}

/** Writes files of a project, but for those that are there. */
function writeMissing(
  root: string,
  files: readonly (readonly [path: string, text: string])[],
  terminal: Terminal,
): void {
  for (const [path, text] of files) {
    const file = join(root, path);
    if (existsSync(file)) {
      terminal.note(`kept ${path}, which was there`);
      continue;
    }
    // A half-written file would be kept by the next run, as if it were the author's.
    writeWhole(file, text);
    terminal.out(`create ${path}\n`);
  }
}

async function askTemplate(): Promise<Template | undefined> {
  const { isCancel, select } = await import("@clack/prompts");
  const answer = await select({
    message: "What to start from?",
    options: templates.map((value) => ({ value, label: value, hint: hints[value] })),
  });
  return isCancel(answer) ? undefined : answer;
}

function templateFiles(template: Template): readonly (readonly [string, string])[] {
  const own = ["agents", "container", template].flatMap(initFiles);
  if (template !== "tracker") return own;
  const registry = filesBelow(join(packageRoot(), "registry"), "registry/").filter(
    // The places come from a package that only this repository installs.
    ([path]) => path !== "registry/demo/places.ts",
  );
  return [...registry, ...own];
}

/** The files of a part of what `init` writes, by their path in a project. */
function initFiles(part: string): readonly (readonly [string, string])[] {
  return filesBelow(join(packageRoot(), "templates", "init", part), "");
}

function filesBelow(folder: string, prefix: string): readonly (readonly [string, string])[] {
  return readdirSync(folder, { withFileTypes: true })
    .sort((left, right) => (left.name < right.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return filesBelow(path, `${prefix}${entry.name}/`);
      return [[`${prefix}${entry.name}`, readFileSync(path, "utf8")] as const];
    });
}

/** The service is called after its folder, as far as a name in the registry can be. */
function nameService(service: string, folder: string): string {
  const { name, title } = namesOf(folder);
  return service
    .replace(/^( {2}name: ).*$/m, `$1${name}`)
    .replace(/^( {2}title: ).*$/m, `$1${title}`);
}

function namesOf(folder: string): { readonly name: string; readonly title: string } {
  const wanted = folder
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "");
  const name = namePattern.test(wanted) ? wanted : "service";
  const words = name.replaceAll("_", " ");
  return { name, title: `${words.charAt(0).toUpperCase()}${words.slice(1)}` };
}

/** What deploys a service beside an image: a unit of systemd, and resources of Kubernetes. */
function deploymentFiles({
  name,
  title,
}: {
  readonly name: string;
  readonly title: string;
}): readonly (readonly [string, string])[] {
  const called = name.replaceAll("_", "-");
  return initFiles("deploy").map(([path, text]) => [
    path.replace("systemd", called),
    text
      .replaceAll("hello", called)
      // In a unit, `%` begins what systemd knows of the machine.
      .replaceAll("Hello API", () =>
        path.endsWith(".service") ? title.replaceAll("%", "%%") : title,
      ),
  ]);
}

/** What the reference service has besides: a transport of its realtime plane, and demo data. */
const ofTracker = {
  dependencies: { "socket.io": "^4.8.0" },
  scripts: { demo: "tsc && node dist/registry/demo/load.js" },
};

/** What nobody awaits fails its operation, also behind `void`: see handlers.md. */
const lintRules = {
  plugins: ["typescript"],
  rules: {
    "typescript/no-floating-promises": ["error", { ignoreVoid: false }],
    "typescript/no-misused-promises": "error",
  },
  // `test` of Node.js answers with a promise that nobody needs to await.
  overrides: [{ files: ["test/**"], rules: { "typescript/no-floating-promises": "off" } }],
  ignorePatterns: ["build/", "dist/", "generated/", "node_modules/"],
};

/**
 * Pull requests fold files that nobody reads line by line; routes, types, specs and migrations are
 * reviewed.
 */
const gitAttributes = `* text=auto eol=lf
${["**/*.json", "validators/**", "client/**"].map((path) => `generated/${path} linguist-generated=true\n`).join("")}`;

function projectFiles(name: string, template: Template): readonly (readonly [string, string])[] {
  const more = template === "tracker" ? ofTracker : undefined;
  const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
  return [
    [
      "package.json",
      json({
        name: name.toLowerCase().replaceAll(/[^a-z0-9-]+/g, "-") || "service",
        version: "0.1.0",
        private: true,
        type: "module",
        scripts: {
          generate: "opwright generate",
          check: "opwright check",
          build: "tsc",
          dev: "opwright dev",
          // With types: an await that is missing is seen where only its type shows it.
          lint: "oxlint --type-aware",
          ...more?.scripts,
          start: "tsc && node --enable-source-maps dist/generated/server.js",
          // What was compiled of tests that are gone goes with them.
          test: `node -e "fs.rmSync('dist/test', {recursive: true, force: true})" && tsc --incremental false && node --test dist/test/*.test.js`,
        },
        dependencies: {
          express: "^5.0.0",
          opwright: `^${packageVersion()}`,
          // For the PostgreSQL of compose.yaml.
          pg: "^8.0.0",
          ...more?.dependencies,
        },
        devDependencies: {
          "@types/express": "^5.0.0",
          "@types/node": "^20.0.0",
          oxlint: "^1.89.0",
          "oxlint-tsgolint": "^7.0.2003",
          // For opwright build.
          rolldown: "^1.0.0",
          typescript: "^7.0.0",
        },
        // npm 11 and newer warn about each install script that is neither allowed nor denied.
        allowScripts: { argon2: false },
      }),
    ],
    [
      "tsconfig.json",
      json({
        compilerOptions: {
          target: "ES2023",
          module: "NodeNext",
          rootDir: ".",
          outDir: "dist",
          incremental: true,
          sourceMap: true,
          types: ["node"],
          strict: true,
          exactOptionalPropertyTypes: true,
          noUncheckedIndexedAccess: true,
          verbatimModuleSyntax: true,
          isolatedModules: true,
          erasableSyntaxOnly: true,
          skipLibCheck: true,
        },
        include: ["registry", "generated", "test"],
      }),
    ],
    [".oxlintrc.json", json(lintRules)],
    [".gitattributes", gitAttributes],
    [".gitignore", "node_modules/\nbuild/\ndist/\n.data/\n.env\n"],
  ];
}
