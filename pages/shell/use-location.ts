// The part of the address behind `#`, which says what a page shows.
import { useEffect, useState } from "preact/hooks";

const current = (): string => decodeURIComponent(location.hash.slice(1));

/** The fragment of the address, kept up to date. */
export function useFragment(): string {
  const [fragment, setFragment] = useState(current);
  useEffect(() => {
    const change = (): void => setFragment(current());
    addEventListener("hashchange", change);
    return () => removeEventListener("hashchange", change);
  }, []);
  return fragment;
}
