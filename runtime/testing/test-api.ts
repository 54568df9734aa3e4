// What the contract suites need of a test runner.

/** The functions of a test runner that the suites need. */
export interface TestApi {
  describe(name: string, body: () => void): void;
  test(name: string, body: () => Promise<void>): void;
}
