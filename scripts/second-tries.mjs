// A reporter of vitest: names the tests that passed only on a second try, which CI allows on a machine that others use too.

export default class SecondTries {
  #names = [];

  onTestCaseResult(testCase) {
    if (testCase.diagnostic()?.flaky === true)
      this.#names.push(`${testCase.module.relativeModuleId}: ${testCase.fullName}`);
  }

  onTestRunEnd() {
    if (this.#names.length === 0) return;
    const lines = this.#names.map((name) => `  ${name}\n`).join("");
    process.stdout.write(`\nPassed on a second try, which is a defect to look into:\n${lines}`);
  }
}
