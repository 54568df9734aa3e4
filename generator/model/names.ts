// Names that follow from other names: types from operation keys, identifiers from both.

const pascalCases = new Map<string, string>();

/** `tasks.raw_list` → `TasksRawList`. Every emitter asks for the same names. */
export function pascalCase(text: string): string {
  const known = pascalCases.get(text);
  if (known !== undefined) return known;
  const name = text.replaceAll(/(?:[^A-Za-z0-9]+|^)([A-Za-z0-9]?)/g, (_separator, first: string) =>
    first.toUpperCase(),
  );
  pascalCases.set(text, name);
  return name;
}

/** `tasks.raw_list` → `tasksRawList`. */
export function camelCase(text: string): string {
  const name = pascalCase(text);
  return name.charAt(0).toLowerCase() + name.slice(1);
}

/** The name of a spec in emitted modules: `tasks` → `tasksSpec`. */
export function specName(of: string): string {
  return `${camelCase(of)}Spec`;
}

/** `tasks.raw_list` → `Raw list tasks`. */
export function sentenceCase(operation: string, namespace: string): string {
  const words = `${operation.replaceAll("_", " ")} ${namespace.replaceAll("_", " ")}`;
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A summary whose `*` is a namespace in words. */
export function summaryOf(text: string, namespace: string): string {
  return text.replace("*", namespace.replaceAll("_", " "));
}

/** The index of a search in SQL. */
export function indexName(search: string): string {
  return `${search}_index`;
}

/** The name, or with a number behind it where another one has it: `wanted#2`. For names of the database, which stay. */
export function numberedName(
  wanted: string,
  isTaken: (name: string) => boolean,
  joint: "#" | "_",
): string {
  let name = wanted;
  for (let number = 2; isTaken(name); number += 1) name = `${wanted}${joint}${number}`;
  return name;
}

/** What holds the context of an error to its type: no word of the language is called so. */
export function contextName(code: string): string {
  return camelCase(`${code}_context`);
}
