// A value that is asked for again and again while somebody looks at it.
import { useEffect } from "preact/hooks";

/** Calls `ask` now and then, one call at a time, as long as the page is shown. */
export function usePolled(ask: () => Promise<void>, millis: number, isOn = true): void {
  useEffect(() => {
    if (!isOn) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isWanted = true;
    const turn = async (): Promise<void> => {
      if (!document.hidden) await ask().catch(() => undefined);
      if (isWanted) timer = setTimeout(() => void turn(), millis);
    };
    void turn();
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [millis, isOn]);
}
