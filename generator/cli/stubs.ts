// Adding missing handlers, hooks and functions of jobs to the author's files, once, outside the
// generated folder (ts-morph).
import { join, posix } from "node:path";
import { projectEntry } from "../load/project-file.js";
import type { Finding } from "../diagnostics/diagnostics.js";
import { writeWhole } from "../output/whole-file.js";
import { mentions } from "../check/functions.js";
import type { Mention } from "../kernel/rule.js";
import { authoredIn } from "../model/code.js";
import { hookTypeName } from "../model/hook-types.js";
import { own } from "../model/records.js";
import type { CheckedRegistry, Project } from "../pipeline/generate.js";

/** Findings that stubs mend, because they only miss a handler or hook, and all others. */
export function dividedByStubs(checked: CheckedRegistry): {
  readonly mended: readonly Finding[];
  readonly others: readonly Finding[];
} {
  const stubs = new Set(
    mentions(checked)
      .filter(({ what }) => what !== "value")
      .map(({ at }) => JSON.stringify(at)),
  );
  const isMended = ({ code, at }: Finding): boolean =>
    code === "OPW042" && stubs.has(JSON.stringify(at));
  return {
    mended: checked.findings.filter(isMended),
    others: checked.findings.filter((finding) => !isMended(finding)),
  };
}

/** Adds what is missing and returns `file#export` of each. What exists is never changed. */
export async function addStubs(
  project: Project,
  checked: CheckedRegistry,
): Promise<readonly string[]> {
  const {
    default: { Project: MorphProject },
  } = await import("ts-morph");
  const morph = new MorphProject({
    useInMemoryFileSystem: false,
    skipAddingFilesFromTsConfig: true,
  });
  const added: string[] = [];
  const all = mentions(checked);
  for (const mention of all) {
    const { reference, what, handlerType, typeModule } = mention;
    if (what === "value") continue;
    const path = join(project.root, reference.file);
    const entry = projectEntry(project.root, reference.file);
    if (entry.kind !== "file" && entry.kind !== "absent") continue;
    const source =
      morph.getSourceFile(path) ??
      (entry.kind === "file" ? morph.addSourceFileAtPath(path) : morph.createSourceFile(path));
    if (source.getExportedDeclarations().has(reference.name)) continue;
    if (handlerType !== undefined) {
      const key = Object.values(checked.expanded.model.operations).find(({ run }) =>
        authoredIn(run).some(
          ({ file, name }) => file === reference.file && name === reference.name,
        ),
      );
      const module = typeModule ?? posix.join("types", key?.namespace ?? "");
      source.addImportDeclaration(importedType(project, reference.file, module, handlerType));
      source.addStatements(
        `\nexport const ${reference.name}: ${handlerType} = async (input, context) => {\n  throw new Error(\`\${context.operationId} is not written yet: \${JSON.stringify(Object.keys(input))}\`);\n};`,
      );
    } else {
      const { imported, statement } = hookStub(project, checked, mention, all);
      const isThere = source
        .getImportDeclarations()
        .some((declaration) =>
          declaration
            .getNamedImports()
            .some((name) => imported.namedImports.includes(name.getName())),
        );
      if (!isThere) source.addImportDeclaration(imported);
      source.addStatements(statement);
    }
    // The author's own code: never half of it, and a link stays one.
    writeWhole(entry.kind === "file" ? entry.real : path, source.getFullText());
    added.push(`${reference.file}#${reference.name}`);
  }
  return added;
}

/** An import of a type of the generated folder, as a file of the author's has it. */
function importedType(project: Project, file: string, module: string, name: string) {
  const types = posix.join(project.paths.out, `${module}.js`);
  const moduleSpecifier = posix.relative(posix.dirname(file), types);
  return { isTypeOnly: true, namedImports: [name], moduleSpecifier };
}

/** What a hook gets behind the input and the context, by its phase. */
const thirdArguments: Readonly<Record<string, string>> = {
  wrap: "next",
  tx_after: "output",
  after_commit: "output",
  on_success: "output",
  on_failure: "error",
};

/**
 * A hook that is not written yet: of the type of its operation, or for any operation where several
 * name it.
 */
function hookStub(
  project: Project,
  { expanded: { model } }: CheckedRegistry,
  { reference, phase = "before", hookOf }: Mention,
  all: readonly Mention[],
) {
  const same = all.filter(
    (one) => one.reference.file === reference.file && one.reference.name === reference.name,
  );
  const operation = hookOf === undefined ? undefined : own(model.operations, hookOf);
  const third = thirdArguments[phase];
  const body = `{\n  throw new Error(\`a hook of \${context.operationId} is not written yet\`);\n}`;
  if (operation !== undefined && same.every((one) => one.hookOf === hookOf)) {
    const type = hookTypeName(operation.key);
    const given = ["_input", "context", ...(third === undefined ? [] : [`_${third}`])].join(", ");
    return {
      imported: importedType(project, reference.file, `types/${operation.namespace}`, type),
      statement: `\nexport const ${reference.name}: ${type}["${phase}"] = async (${given}) => ${body};`,
    };
  }
  const further = third === undefined ? "" : `, _${third}: unknown`;
  const head =
    phase === "wrap"
      ? `<Input, Result>(_input: Input, context: ExecutionContext, _next: (input: Input) => Promise<Result>): Promise<Result>`
      : `(_input: unknown, context: ExecutionContext${further}): Promise<void>`;
  return {
    imported: {
      isTypeOnly: true,
      namedImports: ["ExecutionContext"],
      moduleSpecifier: "opwright/runtime",
    },
    statement: `\nexport async function ${reference.name}${head} ${body}`,
  };
}
