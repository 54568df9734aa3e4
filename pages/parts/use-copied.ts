// Copying a text, and saying so for a moment.
import { useEffect, useState } from "preact/hooks";

const shownMillis = 1_500;

/** Whether the text has just been copied, and the function that copies it. */
export function useCopied(text: string): readonly [isCopied: boolean, copy: () => void] {
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => setIsCopied(false), [text]);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setIsCopied(true);
    setTimeout(() => setIsCopied(false), shownMillis);
  };
  return [isCopied, () => void copy()];
}
