// Adding missing handlers, hooks and functions of jobs to the author's files, once, outside the
// generated folder (ts-morph).
import { join, posix } from "node:path";
import { projectEntry } from "../load/project-file.js";
import type { Finding } from "../diagnostics/diagnostics.js";
import { writeWhole } from "../output/whole-file.js";
import { mentions } from "../check/functions.js";
import { authoredIn } from "../model/code.js";
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
  const { Project: MorphProject } = await import("ts-morph");
  const morph = new MorphProject({
    useInMemoryFileSystem: false,
    skipAddingFilesFromTsConfig: true,
  });
  const added: string[] = [];
  for (const { reference, what, phase, handlerType, typeModule } of mentions(checked)) {
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
      const types = posix.join(project.paths.out, `${module}.js`);
      const specifier = posix.relative(posix.dirname(reference.file), types);
      source.addImportDeclaration({
        isTypeOnly: true,
        namedImports: [handlerType],
        moduleSpecifier: specifier,
      });
      source.addStatements(
        `\nexport const ${reference.name}: ${handlerType} = async (input, context) => {\n  throw new Error(\`\${context.operationId} is not written yet: \${JSON.stringify(Object.keys(input))}\`);\n};`,
      );
    } else {
      const hasContext = source
        .getImportDeclarations()
        .some((declaration) =>
          declaration.getNamedImports().some((name) => name.getName() === "ExecutionContext"),
        );
      if (!hasContext) {
        source.addImportDeclaration({
          isTypeOnly: true,
          namedImports: ["ExecutionContext"],
          moduleSpecifier: "opwright/runtime",
        });
      }
      const head =
        phase === "wrap"
          ? `<Input, Result>(_input: Input, context: ExecutionContext, _next: (input: Input) => Promise<Result>): Promise<Result>`
          : `(_input: unknown, context: ExecutionContext): Promise<void>`;
      source.addStatements(
        `\nexport async function ${reference.name}${head} {\n  throw new Error(\`a hook of \${context.operationId} is not written yet\`);\n}`,
      );
    }
    // The author's own code: never half of it, and a link stays one.
    writeWhole(entry.kind === "file" ? entry.real : path, source.getFullText());
    added.push(`${reference.file}#${reference.name}`);
  }
  return added;
}
