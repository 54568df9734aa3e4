// A value that a component loads.
import { useEffect, useState } from "preact/hooks";

export type Loaded<T> =
  | { readonly state: "loading" }
  | { readonly state: "failed"; readonly error: Error }
  | { readonly state: "loaded"; readonly value: T };

/** Loads a value, and again whenever one of the inputs has changed: until then the older stays. */
export function useLoaded<T>(load: () => Promise<T>, inputs: readonly unknown[] = []): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ state: "loading" });
  useEffect(() => {
    let isWanted = true;
    const set = (next: Loaded<T>): void => {
      if (isWanted) setLoaded(next);
    };
    load().then(
      (value) => set({ state: "loaded", value }),
      (error: unknown) =>
        set({ state: "failed", error: error instanceof Error ? error : new Error(String(error)) }),
    );
    return () => {
      isWanted = false;
    };
  }, inputs);
  return loaded;
}
