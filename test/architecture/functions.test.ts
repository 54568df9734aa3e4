// A function is a verb with its object (docs/design/style.md): `readMailbox`, not `read` of whatever it was.
import { expect, test } from "vitest";
import type { SourceFile } from "./house.js";
import { sources } from "./sources.js";

/**
 * `unscoped` is an adjective, and the field's word for it. The others are local arrow functions; this
 * list only shrinks.
 */
const left =
  "admitted answered asked compiled counted dangling drained dropping ended expanded failed failing folded found gone held kept known left listed looked lost made mailed measured named numbered outstanding printed reading referred related removed rendered returned said settled shared shown signed sorted stalled stored taken told typed unchanged unscoped wanted watched".split(
    " ",
  );

/** Participles that don't end in -ed or -ing. */
const irregular =
  "told said kept held found made given written shown known taken chosen frozen hidden sent led met gone seen thawed left lost".split(
    " ",
  );

/** A declared function, or a constant that is an arrow function. */
const functionNames =
  /(?:\bfunction\*? |\bconst (?=[a-z]+ = (?:async )?(?:\([^()]*(?:\([^()]*\)[^()]*)*\)(?:: [^=;]+)?|[a-z]+) =>))([a-z]+)\b/gi;

/** Names of functions that are a participle alone. */
function participles(files: readonly SourceFile[]): readonly string[] {
  const names = files.flatMap(({ text }) =>
    [...text.matchAll(functionNames)].map(([, name = ""]) => name),
  );
  const isParticiple = (name: string): boolean =>
    irregular.includes(name) ||
    (/^[a-z]+(?:ed|ing)$/.test(name) && !/^(?:ping|bring|feed|need|embed|succeed)$/.test(name));
  return [...new Set(names.filter(isParticiple))].toSorted();
}

test("functions are called by what they do", () => {
  const files = ["generator", "runtime", "client"].flatMap(sources);
  expect(participles(files)).toEqual(left);
});

test.each([
  "export async function translated(error: unknown): Promise<void> {}",
  "function* translated(): Generator<string> {}",
  "  const translated = async (error: unknown): Promise<void> => undefined;",
  "  const translated = ([key]: readonly [string, () => void]): boolean => true;",
  "const translated = text => text;",
])("a further participle is caught: %s", (text) => {
  expect(participles([{ path: "runtime/http/reply.ts", text }])).toEqual(["translated"]);
});
