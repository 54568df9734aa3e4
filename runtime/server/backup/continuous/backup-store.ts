// The place of a continuous backup: a bucket or a folder, in which each database has a series of
// states of its own.
import { buffer } from "node:stream/consumers";
import type { ObjectStore } from "../../../ports/objects.js";
import { refuse } from "../place.js";
import { partName, type Delta } from "./delta.js";
import { readLineage, type Lineage } from "./lineage.js";

/** What all keys begin with, so that a bucket may have something else, too. */
const root = "opwright-backup";

/** More than any part has, compressed. */
const mostPartBytes = 256 * 1024 * 1024;

export function isSeries(name: string): boolean {
  return /^[0-9a-f]{16}$/.test(name);
}

/** The backup of a service. Calls reject as those of object engines do. */
export class BackupStore {
  readonly #objects: ObjectStore;
  readonly #prefix: string;

  constructor(objects: ObjectStore, service: string) {
    this.#objects = objects;
    this.#prefix = `${root}/${service}/`;
  }

  /** The series of states that are there, each of one database. */
  async listSeries(signal?: AbortSignal): Promise<readonly string[]> {
    const found: string[] = [];
    for (let after: string | null = null; ;) {
      const [key] = await this.#keys(this.#prefix, after, 1, signal);
      if (key === undefined) return found;
      const series = key.slice(this.#prefix.length).split("/", 1)[0] ?? "";
      // A browser of buckets may have left something of its own.
      if (isSeries(series)) found.push(series);
      // Behind everything of this one.
      after = `${this.#prefix}${series}/\u{10ffff}`;
    }
  }

  async readLineage(series: string, signal?: AbortSignal): Promise<Lineage> {
    return readLineage(await this.#keys(`${this.#prefix}${series}/`, null, Infinity, signal));
  }

  async writePart(
    series: string,
    { delta, part }: { readonly delta: Delta; readonly part: number },
    content: Buffer,
    signal: AbortSignal,
  ): Promise<void> {
    const name = partName(delta, part);
    const description = { contentType: "application/gzip", filename: name, description: null };
    async function* body(): AsyncGenerator<Buffer> {
      yield content;
    }
    await this.#objects.write(`${this.#prefix}${series}/${name}`, body(), description, signal);
  }

  /** The content of a part. Rejects with `core.conflict` if it is gone. */
  async readPart(key: string): Promise<Buffer> {
    const opened = await this.#objects.open(key);
    if (opened === null) throw refuse("core.conflict", `${key} was removed meanwhile`);
    if (opened.head.size <= mostPartBytes) return buffer(opened.body);
    opened.body.destroy();
    throw refuse("core.conflict", `${key} is larger than any part`);
  }

  async remove(key: string, signal?: AbortSignal): Promise<void> {
    await this.#objects.remove(key, { signal });
  }

  /** Removes uploads that nobody has ended for so long. */
  async sweep(series: string, olderThanSeconds: number): Promise<void> {
    await this.#objects.sweep(`${this.#prefix}${series}/`, olderThanSeconds, 1_000);
  }

  /** Rejects if the place can't be reached, or takes nothing, as far as that can be told. */
  ping(): Promise<void> {
    return this.#objects.ping();
  }

  close(): Promise<void> {
    return this.#objects.close();
  }

  async #keys(
    prefix: string,
    after: string | null,
    most: number,
    signal: AbortSignal | undefined,
  ): Promise<readonly string[]> {
    const keys: string[] = [];
    for await (const { key } of this.#objects.list(prefix, after, signal)) {
      keys.push(key);
      if (keys.length >= most) break;
    }
    return keys;
  }
}
