// What becomes of the page that a connection is in: its network changes, it is left, put aside,
// looked at again.
import { platform } from "./platform.js";

export interface PageEvents {
  /** The network has changed. */
  online(): void;
  /** The page is left, or put aside. */
  hidden(): void;
  /** The browser had put it aside, and shows it again. */
  restored(): void;
  /** Somebody looks at it. */
  visible(): void;
}

/** Tells what becomes of the page; returns what ends that. */
export function watchPage({ online, hidden, restored, visible }: PageEvents): () => void {
  const { document } = platform;
  const shown = ({ persisted }: { readonly persisted?: boolean }): void => {
    if (persisted === true) restored();
  };
  const looked = (): void => {
    if (document?.visibilityState === "visible") visible();
  };
  platform.addEventListener?.("online", online);
  platform.addEventListener?.("pagehide", hidden);
  platform.addEventListener?.("pageshow", shown);
  document?.addEventListener("visibilitychange", looked);
  return () => {
    platform.removeEventListener?.("online", online);
    platform.removeEventListener?.("pagehide", hidden);
    platform.removeEventListener?.("pageshow", shown);
    document?.removeEventListener("visibilitychange", looked);
  };
}
