// Reads a folder into a service: first every line is checked, so that nothing is written where one
// is wrong; then they are added in batches, so that an import that broke off goes on if it is run
// again.
import { fail, ServiceError, type ErrorCode } from "../contract/errors.js";
import type { ValidationFault } from "../contract/validation.js";
import { limits } from "../contract/limits.js";
import type { AnyDataSet, Contents, Naming } from "../operations/data-set.js";
import { parseStrictJson } from "../http/input/strict-json.js";
import { progressBar } from "../work/progress-bar.js";
import { contentsOf, readLines } from "./data-folder.js";

/** Lines that are added at once, and about how many characters they have. */
const batchLines = 5_000;
const batchLength = 4 * 1024 * 1024;

/** What became of a set. */
export interface ImportedSet {
  readonly name: string;
  readonly lines: number;
  readonly added: number;
}

export interface DataImport {
  /** All sets of the service, and those that the folder has, in the order of the former. */
  readonly sets: readonly AnyDataSet[];
  readonly chosen: readonly AnyDataSet[];
  readonly folder: string;
  /** Whether lines are only checked. */
  readonly isDry: boolean;
}

/** A line, where it stands. */
interface PlacedLine {
  readonly place: string;
  readonly line: unknown;
}

/** Throws `core.validation` with what is wrong, line by line, and what adding a line throws. */
export async function importData(given: DataImport): Promise<readonly ImportedSet[]> {
  const { chosen, folder, isDry } = given;
  const contents = contentsOf(folder);
  const faults = new Faults();
  const naming = new Names(chosen.map(({ name }) => name));
  const lines = new Map<string, number>();
  for (const set of chosen) lines.set(set.name, await check(set, folder, contents, naming, faults));
  for (const fault of await naming.unfound(given.sets)) faults.add(fault);
  faults.throwIfAny();
  const counts: ImportedSet[] = [];
  for (const set of chosen) {
    const count = lines.get(set.name) ?? 0;
    const added = isDry ? 0 : await addAll(set, count, folder, contents, naming);
    counts.push({ name: set.name, lines: count, added });
  }
  return counts;
}

/** Checks each line of a set; returns how many there are. */
async function check(
  set: AnyDataSet,
  folder: string,
  contents: Contents,
  naming: Names,
  faults: Faults,
): Promise<number> {
  let count = 0;
  for await (const lines of readLines(folder, set.name))
    for (const { number, text } of lines) {
      if (faults.areMany) return count;
      count += 1;
      naming.place = placeOf(set, number);
      try {
        const line: unknown = set.read(parseStrictJson(text), naming, contents);
        if (line instanceof Promise) await line;
      } catch (error) {
        if (!(error instanceof ServiceError) || error.status >= 500) throw error;
        for (const what of told(error)) faults.add(`${naming.place}${what}`);
      }
    }
  return count;
}

function placeOf({ name }: AnyDataSet, number: number): string {
  return `${name}.jsonl:${number}`;
}

/** Adds all lines of a set; returns how many weren't there. */
async function addAll(
  set: AnyDataSet,
  total: number,
  folder: string,
  contents: Contents,
  naming: Names,
): Promise<number> {
  const bar = progressBar(set.name);
  let done = 0;
  let added = 0;
  // The next batch is read while one is written.
  let writing: Promise<void> = Promise.resolve();
  const write = async (batch: readonly PlacedLine[]): Promise<void> => {
    added += await addBatch(set, batch, contents, naming);
    done += batch.length;
    bar.show(done, total);
  };
  for await (const batch of batchesOf(set, folder, contents, naming)) {
    await writing;
    writing = write(batch);
    // Whoever awaits it next hears of a fault; until then it is nobody's.
    writing.catch(() => undefined);
  }
  await writing;
  bar.finish();
  return added;
}

async function* batchesOf(
  set: AnyDataSet,
  folder: string,
  contents: Contents,
  naming: Names,
): AsyncGenerator<readonly PlacedLine[]> {
  let batch: PlacedLine[] = [];
  let length = 0;
  for await (const lines of readLines(folder, set.name))
    for (const { number, text } of lines) {
      const read: unknown = set.read(parseStrictJson(text), naming.silent, contents);
      const line = read instanceof Promise ? ((await read) as unknown) : read;
      batch.push({ place: placeOf(set, number), line });
      length += text.length;
      if (batch.length < batchLines && length < batchLength) continue;
      yield batch;
      batch = [];
      length = 0;
    }
  if (batch.length > 0) yield batch;
}

/** Adds a batch, or finds the line that stands against it; those before it are added. */
async function addBatch(
  set: AnyDataSet,
  batch: readonly PlacedLine[],
  contents: Contents,
  naming: Names,
): Promise<number> {
  const lines = batch.map(({ line }) => line);
  const [first] = batch;
  if (first === undefined) return 0;
  try {
    return await set.add(lines, naming, contents);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500) throw error;
    if (batch.length === 1) throw placedError(first.place, error);
    const half = batch.length >> 1;
    const before = await addBatch(set, batch.slice(0, half), contents, naming);
    return before + (await addBatch(set, batch.slice(half), contents, naming));
  }
}

/** An error with the place of the line that it is about. */
function placedError(place: string, error: ServiceError): ServiceError {
  const what = told(error).join(";");
  const text = `${place}${what}. What stands before it was imported; run it again to go on`;
  // It has the code of the error that it says more of.
  return fail(error.code as ErrorCode, error.context, { cause: new Error(text, { cause: error }) });
}

/** What an error says, a text for each fault, which begins with the place in the line. */
function told({ context, definition }: ServiceError): readonly string[] {
  const { errors: faults, reason, ...rest } = context;
  if (Array.isArray(faults))
    return (faults as readonly ValidationFault[]).map(({ path, message }) =>
      path === "" ? `: ${message}` : ` ${path}: ${message}`,
    );
  const what = typeof reason === "string" ? reason : definition.detail.replace(/\.$/, "");
  const facts = Object.entries(rest).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return [`: ${what}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`];
}

/** What is wrong with lines, up to a number of them. */
class Faults {
  readonly #faults: string[] = [];

  get areMany(): boolean {
    return this.#faults.length >= limits.maxReportedErrors;
  }

  add(fault: string): void {
    this.#faults.push(fault);
  }

  throwIfAny(): void {
    if (this.#faults.length === 0) return;
    const shown = this.#faults.slice(0, limits.maxReportedErrors);
    const more = this.#faults.length > shown.length || this.areMany ? ["there may be more"] : [];
    const text = ["nothing was imported:", ...shown, ...more].join("\n  ");
    throw fail("core.validation", {}, { cause: new Error(text) });
  }
}

/** What lines have and name, in memory: a text for each thing that others may name. */
class Names implements Naming {
  place = "";
  readonly #brought: ReadonlySet<string>;
  readonly #noted = new Map<string, Set<string>>();
  /** The place of the first line that names what no line has had by then. */
  readonly #expected = new Map<string, Map<string, string>>();
  /** For lines that are read once more. */
  readonly silent: Naming = {
    note: () => undefined,
    expect: () => undefined,
    isNoted: (set, key) => this.isNoted(set, key),
    brings: (set) => this.brings(set),
  };

  /** `brought` are the names of the sets that have lines. */
  constructor(brought: Iterable<string>) {
    this.#brought = new Set(brought);
  }

  brings(set: string): boolean {
    return this.#brought.has(set);
  }

  note(set: string, key: string): void {
    const keys = this.#noted.get(set) ?? new Set();
    this.#noted.set(set, keys.add(key));
    this.#expected.get(set)?.delete(key);
  }

  isNoted(set: string, key: string): boolean {
    return this.#noted.get(set)?.has(key) === true;
  }

  expect(set: string, key: string, path: string): void {
    if (this.isNoted(set, key)) return;
    const keys = this.#expected.get(set) ?? new Map<string, string>();
    if (!keys.has(key)) keys.set(key, `${this.place} ${path}`);
    this.#expected.set(set, keys);
  }

  /** What was named and is nowhere. */
  async unfound(sets: readonly AnyDataSet[]): Promise<readonly string[]> {
    const faults: string[] = [];
    for (const [name, expected] of this.#expected) {
      const keys = [...expected.keys()];
      // A service without tenants knows none.
      const known = await sets.find((set) => set.name === name)?.known?.(keys);
      for (const [key, place] of expected)
        if (known?.has(key) !== true)
          faults.push(`${place}: ${name} has no ${key}, here or in the service`);
    }
    return faults;
  }
}
