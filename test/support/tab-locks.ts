// Web Locks for tabs that are all in one process, as the browser has them: a queue by name, and thieves (W3C Web Locks §3).

interface Request {
  readonly run: () => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

interface Options {
  readonly signal?: AbortSignal;
  readonly steal?: boolean;
}

/** The lock manager of one browser. */
export function tabLocks() {
  const queues = new Map<string, Request[]>();
  const holders = new Map<string, Request>();
  const next = (name: string): void => {
    if (holders.has(name)) return;
    const request = queues.get(name)?.shift();
    if (request === undefined) return;
    holders.set(name, request);
    const over = (): void => {
      if (holders.get(name) !== request) return;
      holders.delete(name);
      next(name);
    };
    void Promise.resolve().then(request.run).then(request.resolve, request.reject).finally(over);
  };
  return {
    request(
      name: string,
      given: Options | (() => Promise<unknown>),
      work?: () => Promise<unknown>,
    ) {
      const [options, run] = typeof given === "function" ? [{}, given] : [given, work];
      const { signal, steal = false }: Options = options;
      return new Promise<unknown>((resolve, reject) => {
        if (run === undefined) return reject(new TypeError("nothing to run"));
        if (signal?.aborted === true) return reject(signal.reason as Error);
        const request: Request = { run, resolve, reject };
        const queue = queues.get(name) ?? [];
        queues.set(name, queue);
        if (steal) {
          // The one who had it goes on, without the lock.
          holders.get(name)?.reject(new DOMException("stolen", "AbortError"));
          holders.delete(name);
          queue.unshift(request);
        } else queue.push(request);
        signal?.addEventListener("abort", () => {
          const at = queue.indexOf(request);
          if (at < 0) return;
          queue.splice(at, 1);
          reject(signal.reason as Error);
        });
        next(name);
      });
    },
  };
}

/** Gives this process the locks of a browser; returns what takes them away. */
export function withTabLocks(locks: ReturnType<typeof tabLocks>): () => void {
  const before = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  Object.defineProperty(globalThis, "navigator", { value: { locks }, configurable: true });
  return () => {
    if (before === undefined) Reflect.deleteProperty(globalThis, "navigator");
    else Object.defineProperty(globalThis, "navigator", before);
  };
}
