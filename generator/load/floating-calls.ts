// Calls in an author's module that start something and that nobody awaits: the plain cases, seen in
// the syntax alone.
import { ts } from "ts-morph";
import type { FloatingCall } from "./module-facts.js";

/** Functions of the runtime and of generated code that answer with promises. */
const pending = new Set([
  "stageEvent",
  "stageSignal",
  "enqueue",
  "cancelJob",
  "createPrincipal",
  "issueSession",
  "signIn",
]);
/** Functions whose result has functions that answer with promises. */
const makers = new Set(["collection", "objects"]);

/** The statements of a module that only start such a call, in their order. */
export function floatingCalls(file: string, text: string): readonly FloatingCall[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const made = new Set<string>();
  const found: FloatingCall[] = [];
  const look = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && isMade(node.initializer))
      made.add(node.name.text);
    if (ts.isExpressionStatement(node)) {
      const what = findFloatingCall(node.expression, made);
      if (what !== null) found.push({ what, offset: node.getStart(source) });
    }
    ts.forEachChild(node, look);
  };
  look(source);
  return found;
}

function isMade(node: ts.Node | undefined): boolean {
  return (
    node !== undefined &&
    ts.isCallExpression(node) &&
    ts.isIdentifier(node.expression) &&
    makers.has(node.expression.text)
  );
}

/** What a statement calls and doesn't await; null if it is none of these. */
function findFloatingCall(node: ts.Expression, made: ReadonlySet<string>): string | null {
  if (ts.isVoidExpression(node) || ts.isParenthesizedExpression(node))
    return findFloatingCall(node.expression, made);
  if (!ts.isCallExpression(node)) return null;
  const callee = node.expression;
  if (ts.isIdentifier(callee)) return pending.has(callee.text) ? callee.text : null;
  if (!ts.isPropertyAccessExpression(callee)) return null;
  const { expression: of, name } = callee;
  // A chain behind it is no more awaited than it is.
  if (["then", "catch", "finally"].includes(name.text)) return findFloatingCall(of, made);
  if (name.text === "forEach") {
    const [run] = node.arguments;
    const isAsync =
      run !== undefined &&
      (ts.isArrowFunction(run) || ts.isFunctionExpression(run)) &&
      run.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword) === true;
    return isAsync ? "forEach with an async function" : null;
  }
  if (isMade(of)) return `${(of as ts.CallExpression).expression.getText()}(…).${name.text}`;
  if (!ts.isIdentifier(of)) return null;
  if (made.has(of.text) || (of.text === "context" && name.text === "commit"))
    return `${of.text}.${name.text}`;
  return null;
}
