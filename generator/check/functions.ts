// The rule that every file#export the registry names exists and is a handler or a hook.
import { readAuthorModules } from "../load/author-modules.js";
import type { Declarations } from "../load/declarations.js";
import { functionsNamed, type NamedFunction } from "../load/references.js";
import { registryShape } from "../expand/registry-shape.js";
import type { ModuleFacts } from "../load/module-facts.js";
import { notRead } from "../load/project-file.js";
import { pascalCase } from "../model/names.js";
import { functionReference } from "../model/code.js";
import { families } from "../families/index.js";
import type { Mention, RuleContext } from "../kernel/rule.js";
import { exportAdvice, fileAdvice } from "./function-advice.js";

/** Every function that the registry names, once per place. */
export function mentions(context: Pick<RuleContext, "loaded" | "expanded">): readonly Mention[] {
  const { tree, declarations } = context.loaded;
  return [
    ...families.flatMap((family) => family.functions(context.expanded.model, tree)),
    ...functionsNamed(registryShape, declarations).map(({ text, path, role }): Mention => ({
      reference: functionReference(text),
      at: tree.at(...path),
      what: role,
      // A handler's operation is the entry in which it is named.
      ...(role === "handler" ? { handlerType: `${pascalCase(String(path[1]))}Handler` } : {}),
      // As the job is: its section has the module that declares its type.
      ...(role === "job"
        ? { handlerType: `${pascalCase(String(path[1]))}Job`, typeModule: String(path[0]) }
        : {}),
      ...(role === "hook" ? { phase: phaseOf(path, declarations), ...hookedBy(path) } : {}),
    })),
  ];
}

/** The operation that names a hook itself: `documents.tasks.hooks.create.before.0`. */
function hookedBy(path: NamedFunction["path"]): Pick<Mention, "hookOf"> {
  const [section, name, , verb] = path.map(String);
  if (section === "operations" && name !== undefined) return { hookOf: name };
  const isNamed = path[2] === "hooks" && name !== undefined && verb !== undefined;
  return isNamed ? { hookOf: `${name}.${verb}` } : {};
}

/**
 * The phase of a hook: the key above it in an operation, or what its own declaration says; in a
 * policy it is asked before.
 */
function phaseOf(path: NamedFunction["path"], { hooks }: Declarations): string {
  if (path[0] === "policies") return "before";
  return path[0] === "hooks" ? (hooks[String(path[1])]?.phase ?? "") : String(path.at(-2));
}

/** Reports functions that are missing or have a wrong signature. */
export async function functionsExist(
  context: RuleContext,
  all: readonly Mention[],
  project: string,
): Promise<void> {
  const named = new Map<string, Set<string>>();
  for (const { reference } of all) {
    named.set(reference.file, (named.get(reference.file) ?? new Set()).add(reference.name));
  }
  const modules = await readAuthorModules(project, named);
  for (const mention of all) {
    checkMention(context, mention, modules.get(mention.reference.file) ?? null, project);
  }
  for (const [file, facts] of modules) checkAwaited(context, file, facts);
}

/**
 * Warns of calls that a module starts and doesn't await: when its function returns, they fail the
 * operation.
 */
function checkAwaited(
  { report }: RuleContext,
  file: string,
  facts: ModuleFacts | string | null,
): void {
  if (facts === null || typeof facts === "string") return;
  for (const { what, offset } of facts.floating)
    report({
      code: "OPW089",
      message: `nobody awaits ${what}`,
      at: { file, path: [], offset },
    });
}

function checkMention(
  { report }: RuleContext,
  mention: Mention,
  facts: ModuleFacts | string | null,
  project: string,
): void {
  const { file, name } = mention.reference;
  if (typeof facts === "string") {
    report({ ...notRead(file, facts), at: mention.at });
    return;
  }
  if (facts === null) {
    const message = `there is no file ${file}`;
    report({ code: "OPW042", message, at: mention.at, ...fileAdvice(project, mention) });
    return;
  }
  const found = facts.exports.find((exported) => exported.name === name);
  if (found === undefined) {
    if (facts.isOpen) return;
    const message = `${file} exports no ${name}`;
    report({
      code: "OPW042",
      message,
      at: mention.at,
      ...exportAdvice(project, mention, facts),
    });
    return;
  }
  const related = [{ message: "declared here", at: { file, path: [], offset: found.offset } }];
  if (mention.what === "value") return;
  if (found.kind === "value") {
    report({ code: "OPW043", message: `${name} is not a function`, at: mention.at, related });
  } else if (found.requiredParameters > (mention.what === "handler" ? 2 : 3)) {
    report({
      code: "OPW043",
      message: `${name} takes ${found.requiredParameters} parameters`,
      at: mention.at,
      related,
    });
  } else if (
    mention.handlerType !== undefined &&
    found.annotation?.endsWith("Handler") === true &&
    found.annotation !== "Handler" &&
    found.annotation !== mention.handlerType
  ) {
    report({
      code: "OPW043",
      message: `${name} is declared as ${found.annotation}, not as ${mention.handlerType}`,
      at: mention.at,
      hint: `Declare it as \`export const ${name}: ${mention.handlerType}\`.`,
      related,
    });
  }
}
