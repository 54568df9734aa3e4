// Names in other manners of writing: `myNotes`, `my-notes` and `My Notes` are `my_notes`.

/** How a name would be written as a name of a declaration, or as that of a type. */
export function nameLike(text: string): readonly string[] {
  if (!/^[A-Za-z][\w .-]*$/.test(text)) return [];
  const [namespace = "", ...operation] = text.split(".").map(snakeCase);
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  return [
    [namespace, ...operation].join("."),
    words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(""),
  ];
}

function snakeCase(text: string): string {
  return text
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .replaceAll(/[^A-Za-z0-9]+/g, "_")
    .toLowerCase();
}
