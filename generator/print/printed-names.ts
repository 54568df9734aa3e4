// Names that a printed module has already, read from its text: what it imports besides gets a name
// that is free there.
import { camelCase } from "../model/names.js";
import { importOf, type Import } from "./layout.js";
import { print } from "./templates.js";

const imported = /^import (?:type )?\{([^}]*)\} from /gm;
const namespaces = /^import (?:type )?\* as ([\w$]+) from /gm;
const declared = /^(?:export )?(?:const|let|function|class|interface|type) ([\w$]+)/gm;
const destructured = /^(?:export )?const \{([^}]*)\} = /gm;

/** What a module imports and declares at its top level, as it is printed. */
export function printedNames(text: string): ReadonlySet<string> {
  const lists = [...text.matchAll(imported), ...text.matchAll(destructured)];
  const listed = lists.flatMap(([, names = ""]) =>
    names.split(",").map((name) => name.trim().split(/\s+/).at(-1) ?? ""),
  );
  const single = [...text.matchAll(namespaces), ...text.matchAll(declared)];
  return new Set([...listed, ...single.map(([, name = ""]) => name)].filter(Boolean));
}

/** The name itself, or with as many underscores as make it free. */
export function freeName(name: string, isTaken: (name: string) => boolean): string {
  let free = name;
  while (isTaken(free)) free += "_";
  return free;
}

/**
 * A camel-case name for each text. `a.b_c` and `a_b.c` have the same, so the second gets an
 * underscore.
 */
export function camelNames(texts: Iterable<string>): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const text of texts) {
    const name = freeName(camelCase(text), (wanted) => taken.has(wanted));
    names.set(text, name);
    taken.add(name);
  }
  return names;
}

/** The import of a name under its local one; none if that is not known yet. */
export function importedName(
  name: string,
  local: ReadonlyMap<string, string>,
  from: string,
  isType: boolean,
): readonly Import[] {
  const known = local.get(name);
  if (known === undefined) return [];
  return [importOf(known === name ? name : `${name} as ${known}`, from, isType)];
}

/** The import of a whole module under its local name; none if that is not known yet. */
export function importedModule(local: string | undefined, from: string): readonly Import[] {
  return local === undefined ? [] : [importOf(`* as ${local}`, from, false)];
}

/**
 * Prints a module that imports what the registry names. `view` is given the local name of each: its
 * own, unless the template has that for something else. It is called without names first, to see
 * which those are.
 */
export function printAround(
  template: string,
  names: Iterable<string>,
  view: (local: ReadonlyMap<string, string>) => object,
): string {
  const all = new Set(names);
  const taken = printedNames(print(template, view(new Map())));
  const local = new Map(
    [...all].map((name) => [
      name,
      freeName(name, (wanted) => taken.has(wanted) || (wanted !== name && all.has(wanted))),
    ]),
  );
  return print(template, view(local));
}
