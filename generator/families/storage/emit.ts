// storage/<name>.ts: the spec of each storage, as the runtime reads it.
import { specName } from "../../model/names.js";
import type { RegistryModel } from "../../model/registry.js";
import { header, type EmittedFile } from "../../print/file.js";
import { importOf, importStatements, listLayout, literal } from "../../print/layout.js";
import { print } from "../../print/templates.js";

export function emitStorages(model: RegistryModel): readonly EmittedFile[] {
  return Object.values(model.storages).map((storage) => ({
    path: `storage/${storage.name}.ts`,
    text: print("storage.ts", {
      header: header(storage.source),
      imports: importStatements([importOf("storing", "opwright/runtime", false)]),
      name: specName(storage.name),
      lines: [
        `  name: ${literal(storage.name)},`,
        `  maxUploadBytes: ${literal(storage.maxUploadBytes)},`,
        `  maxRangeBytes: ${literal(storage.maxRangeBytes)},`,
        storage.accept === null
          ? "  accept: null,"
          : listLayout("  ", "accept: ", storage.accept.map(literal), ["[", "]"], ","),
        ...(storage.accept !== null && storage.detect === "name" ? [`  detect: "name",`] : []),
        `  encryption: ${literal(storage.encryption)},`,
      ],
    }),
  }));
}
