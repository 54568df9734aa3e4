// A value that a component loads once.
import { useEffect, useState } from "preact/hooks";

export type Loaded<T> =
  | { readonly state: "loading" }
  | { readonly state: "failed"; readonly error: Error }
  | { readonly state: "loaded"; readonly value: T };

/** Loads a value when the component is first shown. */
export function useLoaded<T>(load: () => Promise<T>): Loaded<T> {
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
  }, []);
  return loaded;
}
