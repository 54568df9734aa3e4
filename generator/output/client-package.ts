// Compiles the client for its npm package: each file alone and without a type checker, which its
// explicit types allow.
import { ts } from "ts-morph";
import type { EmittedFile } from "../print/file.js";

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  verbatimModuleSyntax: true,
  isolatedDeclarations: true,
  declaration: true,
};

/**
 * The files of a client's package, relative to its root: JavaScript and declarations in place of
 * TypeScript. Throws if an export lacks an explicit type.
 */
export function compileClient(files: readonly EmittedFile[]): readonly EmittedFile[] {
  return files
    .filter(({ path }) => path.startsWith("client/"))
    .flatMap(({ path, text }) => {
      const name = path.slice("client/".length);
      if (!name.endsWith(".ts")) return [{ path: name, text }];
      const given = { fileName: name, compilerOptions: options, reportDiagnostics: true };
      const declared = ts.transpileDeclaration(text, given);
      const [fault] = declared.diagnostics ?? [];
      if (fault !== undefined)
        throw new Error(`${path}: ${ts.flattenDiagnosticMessageText(fault.messageText, " ")}`);
      const stem = name.slice(0, -".ts".length);
      return [
        { path: `${stem}.js`, text: ts.transpileModule(text, given).outputText },
        { path: `${stem}.d.ts`, text: declared.outputText },
      ];
    });
}
