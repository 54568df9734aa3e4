// storage/<name>.ts: the spec of each storage, as the runtime reads it.
import { specName } from "../../model/names.js";
import { own } from "../../model/records.js";
import type { Stored } from "../../model/stored-tables.js";
import type { ModulePaths } from "../../print/module-path.js";
import type { RegistryModel } from "../../model/registry.js";
import type { Encryption } from "../../model/stored-tables.js";
import { header, type EmittedFile } from "../../print/file.js";
import { importOf, importStatements, listLayout, literal } from "../../print/layout.js";
import { print } from "../../print/templates.js";

export function emitStorages(
  model: RegistryModel,
  _paths: ModulePaths,
  { files }: Stored,
): readonly EmittedFile[] {
  return Object.values(model.storage).map((storage) => ({
    path: `storage/${storage.name}.ts`,
    text: print("storage.ts", {
      header: header(storage.source),
      imports: importStatements([importOf("defineStorage", "opwright/runtime", false)]),
      name: specName(storage.name),
      lines: [
        `  name: ${literal(storage.name)},`,
        ...placeLine(storage.name, own(files, storage.name)?.place),
        `  maxUploadBytes: ${literal(storage.maxUploadBytes)},`,
        `  maxRangeBytes: ${literal(storage.maxRangeBytes)},`,
        storage.accept === null
          ? "  accept: null,"
          : listLayout("  ", "accept: ", storage.accept.map(literal), ["[", "]"], ","),
        ...(storage.accept !== null && storage.detect === "name" ? [`  detect: "name",`] : []),
        ...(storage.scan === null ? [] : [`  scan: ${literal(storage.scan)},`]),
        ...(storage.countUpTo === null ? [] : [`  countUpTo: ${storage.countUpTo},`]),
        `  encryption: ${literal(storage.encryption)},`,
        ...otherLine(own(files, storage.name)?.alsoReads ?? []),
      ],
    }),
  }));
}

/** Files of other versions may be stored otherwise. */
function otherLine(others: readonly Encryption[]): readonly string[] {
  return others.length === 0
    ? []
    : [listLayout("  ", "alsoReads: ", others.map(literal), ["[", "]"], ",")];
}

function placeLine(name: string, place = name): readonly string[] {
  return place === name ? [] : [`  place: ${literal(place)},`];
}
