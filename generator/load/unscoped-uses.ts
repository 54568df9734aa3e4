// Where a module uses `unscoped`: seen in its syntax, since a text or a comment that says the word
// does nothing.
import { ts } from "ts-morph";

/** A use of the function, under its own name or where it gets another. */
export interface UnscopedUse {
  /**
   * What it is called with, such as `ordersSpec`; null if it isn't called, or with something
   * else.
   */
  readonly spec: string | null;
  /** Characters from the start of the file. */
  readonly offset: number;
}

const name = "unscoped";

/** The uses in a module, in their order. */
export function unscopedUses(file: string, text: string): readonly UnscopedUse[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: UnscopedUse[] = [];
  const look = (node: ts.Node): void => {
    if (isUse(node)) found.push({ spec: specOf(node), offset: node.getStart(source) });
    ts.forEachChild(node, look);
  };
  look(source);
  return found;
}

/** Whether a node names the function: as a variable, as a member, or to call it otherwise. */
function isUse(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isStringLiteralLike(node))
    return node.text === name && ts.isElementAccessExpression(parent);
  if (!ts.isIdentifier(node) || node.text !== name) return false;
  // In a list of imports it is only used where it gets another name.
  if (ts.isImportSpecifier(parent)) return parent.propertyName === node;
  // A member of the author's own, such as of an object or a type.
  const isMember =
    ts.isPropertyAssignment(parent) ||
    ts.isPropertySignature(parent) ||
    ts.isMethodDeclaration(parent);
  return !(isMember && parent.name === node);
}

/** What a call of it names. */
function specOf(node: ts.Node): string | null {
  const callee = isAccess(node.parent) ? node.parent : node;
  const { parent } = callee;
  if (!ts.isCallExpression(parent) || parent.expression !== callee) return null;
  const [spec] = parent.arguments;
  return spec !== undefined && /^[\w$.]+$/.test(spec.getText()) ? spec.getText() : null;
}

function isAccess(node: ts.Node): boolean {
  return ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node);
}
