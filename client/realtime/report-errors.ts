// Code of the application that a connection calls, and that may throw.

/** Reports errors of the application's code without stopping anything. */
export function reportErrors(run: () => void): void {
  try {
    run();
  } catch (error) {
    console.error(error);
  }
}
