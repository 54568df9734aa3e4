// Code of the application that a connection calls, and that may throw.

/** What the application's code throws is shown, and stops nothing. */
export function guarded(run: () => void): void {
  try {
    run();
  } catch (error) {
    console.error(error);
  }
}
