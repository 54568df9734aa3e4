// How functions of the client are named and printed.
import { camelCase } from "../../model/names.js";
import type { OperationModel } from "../../model/registry.js";
import { reservedWords } from "../../model/reserved-words.js";
import { listLayout, width } from "../../print/layout.js";
import { freeName } from "../../print/printed-names.js";
import { ownFile } from "./own-file.js";

/**
 * Files of the client whose exports its package exports as well, also those that only some services
 * have: names stay as they are.
 */
const ownParts = ["core", "error", "request", "each", "edit", "items", "upload"] as const;

let exported: ReadonlySet<string> | undefined;

/** Names that the client's own files export, and `models`, which its index exports. */
function exportedNames(): ReadonlySet<string> {
  if (exported !== undefined) return exported;
  const texts = ownParts.map((part) => ownFile(`${part}.ts`).text).join("\n");
  const found = texts.matchAll(/^export (?:async )?(?:function\*?|const|class) ([\w$]+)/gm);
  exported = new Set([...[...found].map(([, name = ""]) => name), "models"]);
  return exported;
}

/**
 * Words that TypeScript doesn't accept in `export * as`, where it accepts others, such as `delete`.
 */
const notExported = new Set(
  "await implements interface let package private protected public static yield".split(" "),
);

/** The name that a namespace is exported by. */
export function namespaceName(namespace: string): string {
  const name = camelCase(namespace);
  return freeName(name, (wanted) => notExported.has(wanted) || exportedNames().has(wanted));
}

/** The name that examples import a namespace under: a module can't bind a reserved word. */
export function namespaceImport(namespace: string): {
  readonly imported: string;
  readonly local: string;
} {
  const name = namespaceName(namespace);
  const local = freeName(name, (wanted) => reservedWords.has(wanted));
  return { imported: local === name ? name : `${name} as ${local}`, local };
}

/**
 * The name that a function is exported by, and the one it is declared by, which can't be a reserved
 * word.
 */
export function functionNames({ name }: OperationModel): {
  readonly exported: string;
  readonly local: string;
} {
  const exported = camelCase(name);
  return { exported, local: reservedWords.has(exported) ? `${exported}_` : exported };
}

/** The method and path of a route, in Markdown. */
export function routeText({ route }: OperationModel): string {
  return `\`${route?.method} ${route?.path}\``;
}

/** The head of a function: on one line, or if that is too long with one parameter a line. */
export function functionHead(
  name: string,
  parameters: readonly string[],
  type: string,
  results: readonly string[],
): string {
  const line = `export function ${name}(${parameters.join(", ")}): ${type}<${results.join(", ")}> {`;
  if (line.length <= width) return line;
  const broken = parameters.map((parameter) => `  ${parameter},\n`).join("");
  return `export function ${name}(\n${broken}${listLayout("", `): ${type}`, results, ["<", ">"], " {")}`;
}
