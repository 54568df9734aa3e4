// Rules for the former names of storages: files stay where they were stored first.
import { placeOf } from "../../model/stored-files.js";
import { didYouMean } from "../../diagnostics/did-you-mean.js";
import type { RuleContext } from "../../kernel/rule.js";
import { own } from "../../model/records.js";

/** A storage finds its files: `was` names where they are, and stays as long as they do. */
export function formerStoragesExist({ loaded, expanded, database, report }: RuleContext): void {
  const { storage: storages } = expanded.model;
  const { files = {} } = database;
  const places = new Map<string, string>();
  for (const storage of Object.values(storages)) {
    const { name } = storage;
    const place = placeOf(storage, files);
    // A composite names its former storage where it names its documents, whether there was one or
    // not.
    const was = loaded.declarations.storage[name]?.was;
    const at = loaded.tree.at("storage", name, "was");
    const rival = places.get(place) ?? (Object.hasOwn(storages, place) ? place : name);
    if (rival !== name) {
      const message = `the files of ${name} and ${rival} would be at one place, ${place}`;
      report({ code: "OPW039", message, at });
    } else if (place === name) {
      const kept = Object.keys(files).find((other) => files[other]?.storage === name);
      const message = `files of ${name} are stored as those of ${kept}: keep \`was: ${kept}\``;
      if (kept !== undefined)
        report({ code: "OPW039", message, at: loaded.tree.keyAt("storage", name) });
    }
    if (was !== undefined && Object.keys(files).length > 0 && own(files, was) === undefined) {
      const suggestion = didYouMean(was, Object.keys(files));
      report({ code: "OPW039", message: `no storage was called ${was}`, at, suggestion });
    }
    places.set(place, name);
  }
}
