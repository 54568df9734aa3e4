// Applying edits of a text: those that don't touch each other, in one pass.
import type { Fix, TextEdit } from "../diagnostics/diagnostics.js";

/** Fixes in order, without those whose edits would touch an edit of an earlier one. */
export function apart(fixes: readonly Fix[]): readonly Fix[] {
  const taken: TextEdit[] = [];
  return fixes.filter((fix) => {
    const isFree = fix.every((edit) => taken.every((other) => areApart(edit, other)));
    if (isFree) taken.push(...fix);
    return isFree;
  });
}

/** Whether edits neither overlap nor meet: where they meet, their order would matter. */
function areApart(left: TextEdit, right: TextEdit): boolean {
  return (
    left.file !== right.file ||
    left.range.end.offset < right.range.start.offset ||
    right.range.end.offset < left.range.start.offset
  );
}

/** A text with these edits, all of which are of its file and apart. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  return edits
    .toSorted((left, right) => right.range.start.offset - left.range.start.offset)
    .reduce(
      (written, { range, text: replacement }) =>
        written.slice(0, range.start.offset) + replacement + written.slice(range.end.offset),
      text,
    );
}
