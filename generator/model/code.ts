// Code of emitted modules as data: a literal, a name or a call. Families make it; emitters print it
// without knowing its purpose.

/** The module that exports a name. */
export type CodeSource =
  | "runtime"
  /** A module of the generated folder, by its path without extension: `documents/tasks`. */
  | { readonly generated: string }
  /** A file of the author's, by its path relative to the project. */
  | { readonly authored: string };

export interface CodeName {
  /** An exported name, or a member of one: `documents.create`. */
  readonly name: string;
  readonly from: CodeSource;
}

export interface CodeCall {
  readonly call: CodeName;
  readonly with: readonly Code[];
}

export type Code = { readonly literal: string | number } | CodeName | CodeCall;

/** A name that the runtime exports. */
export function ofRuntime(name: string): CodeName {
  return { name, from: "runtime" };
}

/** A name that a module of the generated folder exports. */
export function ofGenerated(module: string, name: string): CodeName {
  return { name, from: { generated: module } };
}

/** A function that a file of the author's exports. */
export interface FunctionReference {
  readonly file: string;
  readonly name: string;
}

/**
 * Splits `registry/handlers/tasks.ts#complete` into file and export. The text must contain a `#`.
 */
export function functionReference(text: string): FunctionReference {
  const hash = text.indexOf("#");
  return { file: text.slice(0, hash), name: text.slice(hash + 1) };
}

/** As `functionReference`, for an optional member: null if it is left out. */
export function referenceOrNull(text: string | undefined): FunctionReference | null {
  return text === undefined ? null : functionReference(text);
}

/** An author's function as code. */
export function ofAuthor({ file, name }: FunctionReference): CodeName {
  return { name, from: { authored: file } };
}

/** A call of a function with these arguments. */
export function callOf(call: CodeName, ...given: readonly Code[]): CodeCall {
  return { call, with: given };
}

/** All names in a piece of code, outermost first. */
function namesIn(code: Code): readonly CodeName[] {
  if ("call" in code) return [code.call, ...code.with.flatMap(namesIn)];
  return "name" in code ? [code] : [];
}

/** Whether code is a function of the author's. */
export function isAuthors(code: Code): boolean {
  return "from" in code && typeof code.from === "object" && "authored" in code.from;
}

/** Functions of the author's that code names. */
export function authoredIn(code: Code): readonly FunctionReference[] {
  return namesIn(code).flatMap(({ name, from }) =>
    typeof from === "object" && "authored" in from ? [{ file: from.authored, name }] : [],
  );
}
