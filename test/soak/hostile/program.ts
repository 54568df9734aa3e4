// What a program of the soak is, seen from its own process.

/** Begins with the argument of the process, says so, and reports when it is asked to end. */
export function program<Given>(
  begin: (given: Given) => Promise<{ readonly begun: unknown; end(): Promise<unknown> }>,
): void {
  const given = JSON.parse(process.argv[2] ?? "null") as Given;
  void begin(given).then(({ begun, end }) => {
    process.send?.(begun);
    process.once("message", () => void end().then((report) => process.send?.(report)));
  });
  // Whoever has started it is gone.
  process.once("disconnect", () => process.exit(0));
}
