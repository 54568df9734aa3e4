// search/<name>.ts: the spec of each search, as the runtime reads it.
import { authoredIn } from "../../model/code.js";
import { specName } from "../../model/names.js";
import { own } from "../../model/records.js";
import type { Stored } from "../../model/stored-tables.js";
import type { JointSearchModel } from "./model.js";
import type { ModulePaths } from "../../print/module-path.js";
import type { RegistryModel } from "../../model/registry.js";
import { header, type EmittedFile } from "../../print/file.js";
import { importOf, importStatements, listLayout, literal, mapMember } from "../../print/layout.js";
import { ModuleScope } from "../../print/module-scope.js";
import { print } from "../../print/templates.js";

export function emitSearches(
  model: RegistryModel,
  paths: ModulePaths,
  stored: Stored,
): readonly EmittedFile[] {
  return [
    ...emitEach(model, stored),
    ...Object.values(model.jointSearches).map((search) => emitJoint(search, paths)),
  ];
}

/** What a search over others is made of; guards are looked at when it runs. */
function emitJoint({ name, source, over }: JointSearchModel, paths: ModulePaths): EmittedFile {
  const path = `search/${name}.ts`;
  const authored = over.flatMap(({ reading }) => reading.flatMap(authoredIn));
  const scope = new ModuleScope({
    paths,
    path,
    declares: [specName(name)],
    authored: authored.map(({ file }) => file),
  });
  const parts = over.flatMap(({ search, reading }) => {
    const steps = reading.map((step) => scope.code(step));
    return [
      "    {",
      `      search: ${scope.generated(`search/${search}`, specName(search))},`,
      listLayout("      ", "reading: () => ", steps, ["[", "]"], ","),
      "    },",
    ];
  });
  const maker = scope.runtime("joinSearches");
  return {
    path,
    text: print("search.ts", {
      header: header(source),
      imports: importStatements(scope.imports),
      name: specName(name),
      maker,
      lines: [`  name: ${literal(name)},`, "  over: [", ...parts, "  ],"],
    }),
  };
}

function emitEach(
  model: RegistryModel,
  { searches }: Pick<Stored, "searches">,
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
      maker: "defineSearch",
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
