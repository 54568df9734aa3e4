// A button that does something with the service, and says what came of it.
import { useState } from "preact/hooks";
import type { JSX } from "preact";
import { errorOf } from "../parts/fault.js";
import type { Say } from "./notice.js";

interface ActionProps {
  readonly label: string;
  /** What is said once it is done. */
  readonly done: string;
  readonly say: Say;
  /** What the user is asked before, where it can't be undone. */
  readonly question?: string | undefined;
  readonly run: () => Promise<unknown>;
}

/** A button; while it works it can't be pressed again. */
export function Action({ label, done, say, question, run }: ActionProps): JSX.Element {
  const [isRunning, setIsRunning] = useState(false);
  const press = async (): Promise<void> => {
    if (question !== undefined && !confirm(question)) return;
    setIsRunning(true);
    try {
      await run();
      say({ text: done });
    } catch (fault) {
      say({ error: errorOf(fault) });
    } finally {
      setIsRunning(false);
    }
  };
  return (
    <button
      type="button"
      class={question === undefined ? "" : "danger"}
      disabled={isRunning}
      onClick={() => void press()}
    >
      {label}
    </button>
  );
}
