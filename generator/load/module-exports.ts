// Reading the exports of one module from its syntax tree.
import { ts } from "ts-morph";
import type { ExportFacts, ModuleFacts } from "./module-facts.js";

/** The exports of a TypeScript or JavaScript module. */
export function readExports(file: string, text: string): Omit<ModuleFacts, "floating"> {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, false);
  const locals = new Map<string, ExportFacts>();
  const exported: ExportFacts[] = [];
  let isOpen = false;
  for (const statement of source.statements) {
    const declared = declarationsIn(statement, source);
    for (const facts of declared) locals.set(facts.name, facts);
    if (isExported(statement))
      exported.push(
        ...declared.map((facts) => (isDefault(statement) ? { ...facts, name: "default" } : facts)),
      );
    if (ts.isExportDeclaration(statement)) {
      const { exportClause, moduleSpecifier } = statement;
      if (exportClause === undefined) isOpen = true;
      if (exportClause !== undefined && ts.isNamedExports(exportClause)) {
        for (const element of exportClause.elements) {
          const local =
            moduleSpecifier === undefined
              ? locals.get((element.propertyName ?? element.name).text)
              : undefined;
          const offset = element.getStart(source);
          exported.push({ ...(local ?? unknownExport), name: element.name.text, offset });
        }
      }
    }
  }
  return { exports: exported, isOpen };
}

const unknownExport = { kind: "unknown", requiredParameters: 0, annotation: null } as const;

function isExported(statement: ts.Statement): boolean {
  return hasModifier(statement, ts.SyntaxKind.ExportKeyword);
}

/** What is exported by default has that name, and no other. */
function isDefault(statement: ts.Statement): boolean {
  return hasModifier(statement, ts.SyntaxKind.DefaultKeyword);
}

function hasModifier(statement: ts.Statement, wanted: ts.SyntaxKind): boolean {
  return (
    ts.canHaveModifiers(statement) &&
    (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === wanted)
  );
}

function declarationsIn(statement: ts.Statement, source: ts.SourceFile): readonly ExportFacts[] {
  if (ts.isFunctionDeclaration(statement) && statement.name !== undefined) {
    return [
      {
        name: statement.name.text,
        kind: "function",
        requiredParameters: countRequired(statement.parameters),
        annotation: null,
        offset: statement.name.getStart(source),
      },
    ];
  }
  if (ts.isClassDeclaration(statement) && statement.name !== undefined) {
    const offset = statement.name.getStart(source);
    return [
      { name: statement.name.text, kind: "value", requiredParameters: 0, annotation: null, offset },
    ];
  }
  if (!ts.isVariableStatement(statement)) return [];
  return statement.declarationList.declarations.flatMap((declaration) => {
    if (!ts.isIdentifier(declaration.name)) return [];
    const offset = declaration.name.getStart(source);
    return [{ name: declaration.name.text, ...valueFacts(declaration), offset }];
  });
}

function valueFacts(declaration: ts.VariableDeclaration): Omit<ExportFacts, "name" | "offset"> {
  const { type, initializer } = declaration;
  const annotation =
    type !== undefined && ts.isTypeReferenceNode(type) && ts.isIdentifier(type.typeName)
      ? type.typeName.text
      : null;
  if (
    initializer !== undefined &&
    (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer))
  ) {
    return {
      kind: "function",
      requiredParameters: countRequired(initializer.parameters),
      annotation,
    };
  }
  const isLiteral =
    initializer !== undefined &&
    (ts.isLiteralExpression(initializer) ||
      ts.isObjectLiteralExpression(initializer) ||
      ts.isArrayLiteralExpression(initializer) ||
      ts.isClassExpression(initializer));
  return { kind: isLiteral ? "value" : "unknown", requiredParameters: 0, annotation };
}

function countRequired(parameters: ts.NodeArray<ts.ParameterDeclaration>): number {
  return parameters.filter(
    ({ questionToken, initializer, dotDotDotToken }) =>
      !questionToken && !initializer && !dotDotDotToken,
  ).length;
}
