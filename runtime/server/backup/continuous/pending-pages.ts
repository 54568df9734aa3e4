// What was committed and isn't in the backup yet, however often it was added to.
import type { PageSet } from "../../../ports/archive.js";

export class PendingPages implements PageSet {
  /** Where the newest content of each page is. */
  readonly #sources = new Map<number, PageSet>();
  #pageCount = 0;

  get isEmpty(): boolean {
    return this.#sources.size === 0;
  }

  get pageCount(): number {
    return this.#pageCount;
  }

  get numbers(): readonly number[] {
    return [...this.#sources.keys()].toSorted((one, other) => one - other);
  }

  /** Adds what was committed later. */
  add(later: PageSet | null): void {
    if (later === null) return;
    this.#pageCount = later.pageCount;
    for (const number of this.#sources.keys())
      if (number > later.pageCount) this.#sources.delete(number);
    for (const number of later.numbers) this.#sources.set(number, later);
  }

  clear(): void {
    this.#sources.clear();
  }

  read(numbers: readonly number[]): readonly Buffer[] {
    const bySource = new Map<PageSet, number[]>();
    for (const number of numbers) {
      const source = this.#sources.get(number);
      if (source === undefined) throw new Error(`page ${number} is not pending`);
      const own = bySource.get(source);
      if (own === undefined) bySource.set(source, [number]);
      else own.push(number);
    }
    const pages = new Map<number, Buffer>();
    for (const [source, own] of bySource)
      for (const [at, page] of source.read(own).entries()) pages.set(own[at] ?? 0, page);
    return numbers.map((number) => pages.get(number) ?? Buffer.alloc(0));
  }
}
