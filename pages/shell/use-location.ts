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
