// The rule that every file#export the registry names exists and is a handler or a hook.
import { didYouMean } from "../did-you-mean.js";
import type { Origin } from "../diagnostics.js";
import { readAuthorModules } from "../load/author-modules.js";
import type { LoadedRegistry } from "../load/load.js";
import type { ModuleFacts } from "../load/module-facts.js";
import { notRead } from "../load/project-file.js";
import { pascalCase } from "../model/names.js";
import { functionReference, type FunctionReference } from "../model/registry.js";
import type { RuleContext } from "./rule-context.js";

/** One mention of a function in the registry. */
export interface Mention {
  readonly reference: FunctionReference;
  readonly at: Origin;
  /** A `value` may be anything: the compiler checks it. */
  readonly what: "handler" | "hook" | "value";
  /** The phase of a hook. */
  readonly phase?: string;
  /** The type that a handler's annotation must name, where it names one that ends in Handler. */
  readonly handlerType?: string;
}

/** Every function that the registry names, once a place. */
export function mentions({
  loaded,
  expanded,
}: Pick<RuleContext, "loaded" | "expanded">): readonly Mention[] {
  const { tree } = loaded;
  const { model } = expanded;
  const handlers = Object.values(model.operations).flatMap((operation): readonly Mention[] => {
    if (operation.run.kind !== "function") return [];
    const at = tree.at("operations", operation.key, "run");
    return [
      {
        reference: operation.run.function,
        at,
        what: "handler",
        handlerType: `${pascalCase(operation.key)}Handler`,
      },
    ];
  });
  const named = Object.keys(loaded.declarations.hooks).map((name): Mention => {
    const { run = "", phase } = loaded.declarations.hooks[name] ?? {};
    const at = tree.at("hooks", name, "run");
    return { reference: functionReference(run), at, what: "hook", phase: String(phase) };
  });
  const inline = [
    ...inlineHooks(loaded.tree.section("operations"), ["operations"]),
    ...inlineHooks(loaded.tree.section("documents"), ["documents"]),
  ];
  const app = model.service.app;
  return [
    ...handlers,
    ...named,
    ...inline.map(({ text, path }): Mention => ({
      reference: functionReference(text),
      at: tree.at(...path),
      what: "hook",
      phase: String(path.at(-2)),
    })),
    ...(app === null
      ? []
      : [{ reference: app, at: tree.at("service", "app"), what: "value" } as const]),
    ...functionsOfIdentity(loaded),
  ];
}

/** Functions of identity, authorization, scopes and the outbox. */
function functionsOfIdentity({ declarations, tree }: LoadedRegistry): readonly Mention[] {
  const { identity, authorization, scopes, outbox, realtime } = declarations;
  const named: readonly (readonly [string | undefined, readonly string[]])[] = [
    [identity?.verifier, ["identity", "verifier"]],
    [identity?.resolver, ["identity", "resolver"]],
    [identity?.signing?.signer, ["identity", "signing", "signer"]],
    [authorization?.decide, ["authorization", "decide"]],
    [realtime?.topics, ["realtime", "topics"]],
    ...Object.entries(scopes).map(([name, text]) => [text, ["scopes", name]] as const),
    ...Object.entries(outbox?.events ?? {})
      .filter(([, { destination }]) => destination.includes("#"))
      .map(
        ([name, { destination }]) =>
          [destination, ["outbox", "events", name, "destination"]] as const,
      ),
  ];
  return named.flatMap(([text, path]): readonly Mention[] =>
    text === undefined
      ? []
      : [{ reference: functionReference(text), at: tree.at(...path), what: "value" }],
  );
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
    checkMention(context, mention, modules.get(mention.reference.file) ?? null);
  }
}

function checkMention(
  { report }: RuleContext,
  mention: Mention,
  facts: ModuleFacts | string | null,
): void {
  const { file, name } = mention.reference;
  if (typeof facts === "string") {
    report({ ...notRead(file, facts), at: mention.at });
    return;
  }
  if (facts === null) {
    report({ code: "OPW042", message: `there is no file ${file}`, at: mention.at });
    return;
  }
  const found = facts.exports.find((exported) => exported.name === name);
  if (found === undefined) {
    if (facts.isOpen) return;
    const names = facts.exports.map((exported) => exported.name);
    report({
      code: "OPW042",
      message: `${file} exports no ${name}`,
      at: mention.at,
      suggestion: didYouMean(name, names),
    });
    return;
  }
  const related = [{ message: "declared here", at: { file, path: [], offset: found.offset } }];
  if (mention.what === "value") return;
  if (found.kind === "value") {
    report({ code: "OPW043", message: `${name} is not a function`, at: mention.at, related });
  } else if (found.requiredParameters > (mention.what === "hook" ? 3 : 2)) {
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
      related,
    });
  }
}

/** `file#export` texts below a section's `hooks` keys. */
function inlineHooks(
  value: unknown,
  path: readonly (string | number)[],
  inHooks = false,
): readonly { readonly text: string; readonly path: readonly (string | number)[] }[] {
  if (typeof value === "string")
    return inHooks && value.includes("#") ? [{ text: value, path }] : [];
  if (typeof value !== "object" || value === null) return [];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return entries.flatMap(([key, inner]) =>
    inlineHooks(inner, [...path, key], inHooks || key === "hooks"),
  );
}
