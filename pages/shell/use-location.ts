// The part of the address behind `#`, which says what a page shows.
import { useEffect, useState } from "preact/hooks";

/** A fragment that isn't encoded as it should be is taken as it is. */
function current(): string {
  const text = location.hash.slice(1);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export interface Visit {
  readonly fragment: string;
  /** How often an address was gone to within the page. */
  readonly count: number;
}

/** The fragment of the address, and which visit it is, kept up to date. */
export function useVisit(): Visit {
  const [visit, setVisit] = useState<Visit>(() => ({ fragment: current(), count: 0 }));
  useEffect(() => {
    const change = (): void => setVisit(({ count }) => ({ fragment: current(), count: count + 1 }));
    addEventListener("hashchange", change);
    return () => removeEventListener("hashchange", change);
  }, []);
  return visit;
}

/** The fragment of the address, kept up to date. */
export function useFragment(): string {
  return useVisit().fragment;
}
