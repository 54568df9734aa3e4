// opwright init: a project from a template. Never overwrites, and never asks without a terminal.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { name as namePattern } from "../load/format-parts.js";
import { writeWhole } from "../output/whole-file.js";
import { packageRoot, packageVersion } from "../project/package-root.js";
import { exitCodes, type ExitCode, type Terminal } from "./io.js";
import { hints, templates, type Template } from "./templates.js";

/** Writes a project. Files that are there already are kept and named. */
export async function runInit(
  folder: string,
  flags: { readonly template?: Template; readonly yes?: boolean },
  terminal: Terminal,
): Promise<ExitCode> {
  const template =
    flags.template ??
    (flags.yes === true || !terminal.isInteractive ? "minimal" : await askTemplate());
  if (template === undefined) return exitCodes.usage;
  const root = resolve(terminal.folder, folder);
  const name = basename(root);
  for (const [path, text] of [
    ...templateFiles(template).map(([path, text]) =>
      path === "registry/service.yaml"
        ? ([path, nameService(text, name)] as const)
        : ([path, text] as const),
    ),
    ...projectFiles(name, template),
  ]) {
    const file = join(root, path);
    if (existsSync(file)) {
      terminal.note(`kept ${path}, which was there`);
      continue;
    }
    // A half-written file would be kept by the next run, as if it were the author's.
    writeWhole(file, text);
    terminal.out(`create ${path}\n`);
  }
  terminal.note(
    `\nnext:\n${folder === "." ? "" : `  cd ${folder}\n`}  npm install\n  npx opwright generate\n  npm test\n${template === "tracker" ? "  npm run demo\n" : ""}  npm start`,
  );
  return exitCodes.fine;
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
  const root = packageRoot();
  const own = ["agents", "container", template].flatMap((part) =>
    filesBelow(join(root, "templates", "init", part), ""),
  );
  if (template !== "tracker") return own;
  const registry = filesBelow(join(root, "registry"), "registry/").filter(
    // The places come from a package that only this repository installs.
    ([path]) => path !== "registry/demo/places.ts",
  );
  return [...registry, ...own];
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
  const wanted = folder
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "");
  const called = namePattern.test(wanted) ? wanted : "service";
  const words = called.replaceAll("_", " ");
  return service
    .replace(/^( {2}name: ).*$/m, `$1${called}`)
    .replace(/^( {2}title: ).*$/m, `$1${words.charAt(0).toUpperCase()}${words.slice(1)}`);
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
  ignorePatterns: ["dist/", "generated/", "node_modules/"],
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
    [".gitignore", "node_modules/\ndist/\n.data/\n.env\n"],
  ];
}
