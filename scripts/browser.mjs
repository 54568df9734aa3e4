// The Chromium that takes pictures.
import { createRequire } from "node:module";

/** Starts it. Playwright is a package of tests, which `install` brings. */
export function openBrowser() {
  const { chromium } = createRequire(import.meta.url)("playwright-core");
  return chromium.launch({
    executablePath: process.env.OPWRIGHT_TEST_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu"],
  });
}
