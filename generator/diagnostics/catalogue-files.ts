// Diagnostics of files: what of the registry is not read, and what of the generated folder is out
// of date, edited, lost or in the way.
import { entry } from "./catalogue-entry.js";

export const ofFiles = {
  OPW006: entry(
    "No registry",
    "The registry folder is missing, or holds no YAML file.",
    "Run `opwright init`, or name the folder with --registry.",
  ),
  OPW008: entry(
    "File not read",
    "A file or folder that the registry holds or names is a link out of the project or to nowhere, is not a regular file, or is larger than 4 MiB. Nothing of it is read or shown.",
    "Put a copy into the project, or split a file that is too large.",
  ),
  OPW080: entry(
    "Out of date",
    "A generated file differs from what the registry gives.",
    "Run `opwright generate` and commit the result.",
  ),
  OPW081: entry(
    "Missing file",
    "A generated file is not there.",
    "Run `opwright generate` and commit the result.",
  ),
  OPW082: entry(
    "Stale file",
    "A file was generated earlier and is no longer part of the output.",
    "Run `opwright generate`, which removes it.",
  ),
  OPW083: entry(
    "Edited by hand",
    "A generated file was changed after it was generated; it is not overwritten.",
    "Move the change into the registry, then run `opwright generate --force`.",
  ),
  OPW084: entry(
    "File in the way",
    "A file that opwright did not write is where it would write.",
    "Move the file away, or choose another --out.",
  ),
  OPW085: entry(
    "Migration lost",
    "A migration that was generated earlier, or `migrations/storage.json`, is missing, was edited, is not in the manifest, or has a number that is taken; databases may already have applied it.",
    "After a merge, run `opwright generate`: it writes your migrations after those of the base branch. Otherwise restore the file from version control (`git checkout HEAD -- generated/migrations`). Remove one that is not in the manifest, unless a database has applied it.",
  ),
  OPW091: entry(
    "Migrations of the base lost",
    "The base branch has migrations, or shapes of stored rows in `migrations/storage.json`, that this branch has changed or doesn't have. Databases of the base have applied them, so a deploy of this branch would fail there, or misread rows.",
    "Merge the base branch, then run `opwright migrations squash`: it restores what the base has, and writes yours after it.",
  ),
  OPW086: entry(
    "Generated folder leads elsewhere",
    "The generated folder, or something in it, is a link out of the project or to nowhere, or is not a regular file. Nothing is read or written through it.",
    "Remove it, then run `opwright generate`.",
  ),
  OPW087: entry(
    "Foreign file",
    "opwright did not write this file in the generated folder. It is left alone, but nobody expects it there.",
    "Move it out of the folder. This is a warning.",
    "warning",
  ),
  OPW094: entry(
    "Interrupted",
    "`opwright generate` ended before it had written everything, or is writing right now.",
    "Run `opwright generate` again: it finishes what was begun.",
  ),
} as const;
