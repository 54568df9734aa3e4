// The source files of the house and what they import. Rules over both are functions, so that a planted violation can be held against each.
import { dirname, relative, resolve } from "node:path";
import { ts } from "ts-morph";

/** A source file by its path in the repository. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

export interface Import {
  readonly from: string;
  /** A file of the repository, or a package's name. */
  readonly to: string;
}

/** A module that is loaded where it is first needed, in ways that the scanner doesn't read. */
const loaded = /\brequire\(`([^`$]+)|\bcreateRequire\([^)]*\)\("([^"]+)"\)/g;

/** What a file imports, types included. */
export function importsOf({ path, text }: SourceFile): readonly Import[] {
  const specifiers = [
    ...ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName),
    ...[...text.matchAll(loaded)].map(([, prefix, whole]) => prefix ?? whole ?? ""),
  ];
  return specifiers.map((specifier) => ({
    from: path,
    to: specifier.startsWith(".")
      ? relative("/", resolve("/", dirname(path), specifier)).replace(
          /\.js$/,
          path.startsWith("pages/") ? "" : ".ts",
        )
      : specifier,
  }));
}

/** Names of exported types that several files declare. One that all sides have, of each side one, is none of them. */
export function sharedNames(
  files: readonly SourceFile[],
  ofAllSides: readonly string[],
): readonly string[] {
  const byName = new Map<string, string[]>();
  for (const { path, text } of files)
    for (const [, name = ""] of text.matchAll(
      /^export (?:abstract )?(?:interface|type|class) (\w+)/gm,
    )) {
      const side = ofAllSides.includes(name) ? path.split("/")[0] : "";
      const key = `${side} ${name}`;
      byName.set(key, [...(byName.get(key) ?? []), path]);
    }
  return [...byName]
    .filter(([, paths]) => new Set(paths).size > 1)
    .map(([key, paths]) => `${key.split(" ")[1]}: ${paths.join(", ")}`)
    .sort();
}
