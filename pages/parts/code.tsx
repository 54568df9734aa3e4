// A block of code that can be copied.
import type { JSX } from "preact";
import { partsOf } from "./highlight.js";
import { useCopied } from "./use-copied.js";

interface CodeProps {
  readonly text: string;
  readonly label: string;
  /** What is copied in its place, such as the same with a token that nobody should read. */
  readonly copied?: string;
}

/** Text as code in colours, with a button that copies it. */
export function Code({ text, label, copied = text }: CodeProps): JSX.Element {
  const [isCopied, copy] = useCopied(copied);
  return (
    <div class="code-block">
      <p>
        {label}
        <button type="button" onClick={copy}>
          {isCopied ? "Copied" : "Copy"}
        </button>
      </p>
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>
          {partsOf(text).map(({ kind, text: part }, at) =>
            kind === null ? (
              part
            ) : (
              <i key={at} class={kind}>
                {part}
              </i>
            ),
          )}
        </code>
      </pre>
    </div>
  );
}
