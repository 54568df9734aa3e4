// The colours of the pages: those of the reader's system, until the reader chooses.
import { useState } from "preact/hooks";
import type { JSX } from "preact";

const key = "opwright scheme";

type Scheme = "light" | "dark";

/** Puts the reader's choice on the page; the demo's own pages have theirs from the system. */
export function applyScheme(): void {
  const chosen = localStorage.getItem(key);
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset["scheme"] = chosen;
}
function currentScheme(): Scheme {
  const { scheme } = document.documentElement.dataset;
  if (scheme === "light" || scheme === "dark") return scheme;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** A button that changes between light and dark. */
export function SchemeSwitch(): JSX.Element {
  const [scheme, setScheme] = useState(currentScheme);
  const other = scheme === "dark" ? "light" : "dark";
  const change = (): void => {
    // Who is back at the scheme of the system follows the system again.
    if (matchMedia(`(prefers-color-scheme: ${other})`).matches) localStorage.removeItem(key);
    else localStorage.setItem(key, other);
    document.documentElement.dataset["scheme"] = other;
    setScheme(other);
  };
  return (
    <button
      class="icon"
      type="button"
      title={`Use the ${other} scheme`}
      aria-label={`Use the ${other} scheme`}
      onClick={change}
    >
      {scheme === "dark" ? "☀" : "☾"}
    </button>
  );
}
