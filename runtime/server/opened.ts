// What a start has opened so far, so that one that fails leaves nothing open.

/** Ways to close what is open. */
export class Opened {
  readonly #ways: (() => unknown)[] = [];

  /** `close` is called once, if the start fails or when all is closed. */
  add(close: () => unknown): void {
    this.#ways.push(close);
  }

  /** Closes everything, the latest first. What fails to close keeps nothing else open; then this rejects with its fault. */
  async close(): Promise<void> {
    const faults: unknown[] = [];
    for (const close of this.#ways.splice(0).reverse())
      try {
        await close();
      } catch (fault) {
        faults.push(fault);
      }
    if (faults.length > 0) throw faults[0];
  }
}

/** Opens several things; if one of them can't be opened, those before it are closed, and this rejects with its fault. */
export async function allOpened<T>(open: (opened: Opened) => Promise<T>): Promise<T> {
  const opened = new Opened();
  try {
    return await open(opened);
  } catch (fault) {
    // Why it didn't start is what counts.
    await opened.close().catch(() => undefined);
    throw fault;
  }
}
