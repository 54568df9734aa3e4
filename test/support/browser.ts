// Debian's Chromium, driven through playwright-core; no browser is downloaded.
import { chromium, type Browser } from "playwright-core";

const executablePath = process.env["OPWRIGHT_TEST_CHROMIUM"];

/** False where global-setup.ts found no Chromium; such suites are skipped, and it has said so. */
export const hasBrowser = executablePath !== undefined;

export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: executablePath ?? "",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      // A page that a test fulfils has no address, and would count as one of another network.
      "--disable-features=LocalNetworkAccessChecks",
    ],
  });
}
