// `node server.js export FOLDER` and `import FOLDER [--check]`: what a service keeps, as files of
// JSON lines (decisions.md "Bring your data").
import { fail } from "../contract/errors.js";
import type { AnyDataSet } from "../operations/data-set.js";
import type { ServiceAtWork, ServiceCommand } from "../operations/family.js";
import { familiesOf } from "../families.js";
import { monotonicMillis } from "../ports/ambient.js";
import {
  contentsOf,
  faultOfDisk,
  fillFolder,
  isUnfinished,
  listSets,
  writeLines,
} from "./data-folder.js";
import { importData } from "./import-data.js";
import type { ServiceDefinition } from "./service.js";

/** The commands of a service, whatever it keeps. */
export function dataCommands(service: ServiceDefinition): readonly ServiceCommand[] {
  const setsOf = (running: ServiceAtWork): readonly AnyDataSet[] =>
    familiesOf(service).flatMap(({ family, part }) => family.data(part, running));
  return [
    {
      name: "export",
      usage: "FOLDER",
      migrates: () => false,
      read: ([folder = "", ...more]) =>
        folder === "" || more.length > 0 ? null : (running) => exportData(setsOf(running), folder),
    },
    {
      name: "import",
      usage: "FOLDER [--check]",
      migrates: (args) => !args.includes("--check"),
      read(args) {
        const isDry = args.includes("--check");
        const [folder = "", ...more] = args.filter((argument) => argument !== "--check");
        if (folder === "" || more.length > 0) return null;
        return (running) => importInto(setsOf(running), folder, isDry);
      },
    },
  ];
}

/** Writes all sets to a folder that is empty or isn't there yet. */
async function exportData(sets: readonly AnyDataSet[], folder: string): Promise<string> {
  const begun = monotonicMillis();
  const told: string[] = [];
  try {
    await fillFolder(folder, async (within) => {
      const contents = contentsOf(within);
      for (const set of sets) {
        const count = await writeLines(within, set.name, set.lines(contents));
        if (count > 0) told.push(`${set.name}: ${count}`);
      }
    });
  } catch (error) {
    throw faultOfDisk(error, folder);
  }
  return [...told, `exported in ${seconds(begun)} s`].join("\n");
}

async function importInto(
  sets: readonly AnyDataSet[],
  folder: string,
  isDry: boolean,
): Promise<string> {
  const begun = monotonicMillis();
  if (isUnfinished(folder)) {
    const cause = new Error(`${folder} is left from an export that ended early: it isn't whole`);
    throw fail("core.conflict", {}, { cause });
  }
  const found = await listSets(folder).catch((error: unknown) => {
    throw faultOfDisk(error, folder);
  });
  const known = new Set(sets.map(({ name }) => name));
  const strange = [...found.sets].filter((name) => !known.has(name));
  const others = [...strange.map((name) => `${name}.jsonl`), ...found.others];
  if (others.length > 0) {
    const names = sets.map(({ name }) => `${name}.jsonl`).join(", ");
    const cause = new Error(`${folder} has ${others.join(", ")}; the service reads ${names}`);
    throw fail("core.validation", {}, { cause });
  }
  const chosen = sets.filter(({ name }) => found.sets.has(name));
  const counts = await importData({ sets, chosen, folder, isDry });
  const told = counts.map(({ name, lines, added }) =>
    isDry ? `${name}: ${lines}` : `${name}: ${added} added, ${lines - added} there already`,
  );
  return [...told, `${isDry ? "checked" : "imported"} in ${seconds(begun)} s`].join("\n");
}

function seconds(begun: number): string {
  return ((monotonicMillis() - begun) / 1000).toFixed(1);
}
