// How functions of the client are named and printed.
import { camelCase } from "../../model/names.js";
import type { OperationModel } from "../../model/registry.js";
import { listLayout, width } from "../../print/layout.js";

/** Words that cannot name a function. */
const reserved = new Set(
  "arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while with yield".split(
    " ",
  ),
);

/** Names that the client's own files export. */
const exportedNames = new Set(
  "authorize call callOf createClient currentCaller each edit errorOf isConflict models randomKey refreshTokens retryAfterMillis timerMillis tokensOf upload".split(
    " ",
  ),
);

/** The name that a namespace is exported by. */
export function namespaceName(namespace: string): string {
  const name = camelCase(namespace);
  return exportedNames.has(name) ? `${name}_` : name;
}

/** The name that a function is exported by, and the one it is declared by, which must be no word of the language. */
export function functionNames({ name }: OperationModel): {
  readonly exported: string;
  readonly local: string;
} {
  const exported = camelCase(name);
  return { exported, local: reserved.has(exported) ? `${exported}_` : exported };
}

/** The route as documentation. */
export function routeText({ route }: OperationModel): string {
  return `\`${route?.method} ${route?.path}\``;
}

/** The head of a function: on one line, or with a parameter a line, and then with its result broken as well. */
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
