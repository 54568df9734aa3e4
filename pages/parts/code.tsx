// A block of code that can be copied.
import { useState } from "preact/hooks";
import type { JSX } from "preact";

interface CodeProps {
  readonly text: string;
  readonly label: string;
  /** What is copied in its place, such as the same with a token that nobody should read. */
  readonly copied?: string;
}

/** Text as code, with a button that copies it. */
export function Code({ text, label, copied = text }: CodeProps): JSX.Element {
  const [isCopied, setIsCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(copied);
    setIsCopied(true);
    setTimeout(() => setIsCopied(false), 1_500);
  };
  return (
    <div class="code-block">
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>{text}</code>
      </pre>
      <button type="button" onClick={() => void copy()}>
        {isCopied ? "Copied" : "Copy"}
      </button>
    </div>
  );
}
