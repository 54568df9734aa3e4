// What emitted modules say, as data: a plain value, something by its name, or a call. Emitters print it without asking what it is for.

/** Where a name comes from. */
export type CodeSource =
  | "runtime"
  /** A module of the generated folder by its path without a suffix, `documents/tasks`. */
  | { readonly generated: string }
  /** A file of the author's, relative to the project. */
  | { readonly authored: string };

export interface CodeName {
  /** A name, or a member of it: `documents.create`. */
  readonly name: string;
  readonly from: CodeSource;
}

export interface CodeCall {
  readonly call: CodeName;
  readonly with: readonly Code[];
}

export type Code = { readonly literal: string | number } | CodeName | CodeCall;

/** Something of the runtime by its name there. */
export function ofRuntime(name: string): CodeName {
  return { name, from: "runtime" };
}

/** What a module of the generated folder exports. */
export function ofGenerated(module: string, name: string): CodeName {
  return { name, from: { generated: module } };
}

/** A function in a file of the author's. */
export interface FunctionReference {
  readonly file: string;
  readonly name: string;
}

/** `registry/handlers/tasks.ts#complete` as file and export. */
export function functionReference(text: string): FunctionReference {
  const hash = text.indexOf("#");
  return { file: text.slice(0, hash), name: text.slice(hash + 1) };
}

/** The same of a member that may be left out. */
export function referenceOrNull(text: string | undefined): FunctionReference | null {
  return text === undefined ? null : functionReference(text);
}

/** An author's function as code. */
export function ofAuthor({ file, name }: FunctionReference): CodeName {
  return { name, from: { authored: file } };
}

export function callOf(call: CodeName, ...given: readonly Code[]): CodeCall {
  return { call, with: given };
}

/** The names in a piece of code, from the outside in. */
export function namesIn(code: Code): readonly CodeName[] {
  if ("call" in code) return [code.call, ...code.with.flatMap(namesIn)];
  return "name" in code ? [code] : [];
}

/** The author's functions in a piece of code. */
export function authoredIn(code: Code): readonly FunctionReference[] {
  return namesIn(code).flatMap(({ name, from }) =>
    typeof from === "object" && "authored" in from ? [{ file: from.authored, name }] : [],
  );
}
