// search/<name>.ts: the spec of each search, as the runtime reads it.
import { specName } from "../../model/names.js";
import { own } from "../../model/records.js";
import type { Stored } from "../../model/stored-tables.js";
import type { ModulePaths } from "../../print/module-path.js";
import type { RegistryModel } from "../../model/registry.js";
import { header, type EmittedFile } from "../../print/file.js";
import { importOf, importStatements, listLayout, literal, mapMember } from "../../print/layout.js";
import { print } from "../../print/templates.js";

export function emitSearches(
  model: RegistryModel,
  _paths: ModulePaths,
  { searches }: Stored,
): readonly EmittedFile[] {
  return Object.values(model.search).map((search) => ({
    path: `search/${search.name}.ts`,
    text: print("search.ts", {
      header: header(search.source),
      imports: importStatements([
        importOf("defineSearch", "opwright/runtime", false),
        importOf(specName(search.document), `../documents/${search.document}.js`, false),
      ]),
      name: specName(search.name),
      lines: [
        `  name: ${literal(search.name)},`,
        `  index: ${literal(own(searches, search.name))},`,
        `  document: ${specName(search.document)},`,
        mapMember("  ", "text", search.text),
        ...(search.language === null ? [] : [`  language: ${literal(search.language)},`]),
        listLayout("  ", "facets: ", search.facets.map(literal), ["[", "]"], ","),
      ],
    }),
  }));
}
