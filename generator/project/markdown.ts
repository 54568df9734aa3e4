// Texts of a registry in Markdown that we print.

/**
 * What a terminal would obey: control characters, line ends of Unicode, changes of the reading
 * direction.
 */
// oxlint-disable-next-line no-control-regex -- they are what is found
export const obeyed = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** A text on one line, without what a terminal would obey. */
export function oneLine(text: string): string {
  return text.replaceAll(new RegExp(`${obeyed.source}+`, "g"), " ");
}

/**
 * A text on one line of Markdown, in a table too, where nothing of it is read otherwise, and nobody
 * and no issue is mentioned.
 */
export function markdownText(text: string): string {
  return (
    oneLine(text)
      .replaceAll(/[\\`*_{}[\]<>#|!~&]/g, (mark) => `\\${mark}`)
      // GitHub mentions what is escaped too, unless something stands between that nobody sees.
      .replaceAll(/[@#](?=\w)|\bGH-(?=\d)/g, (mark) => `${mark}\u200b`)
  );
}
