// The console of a service in a browser, as somebody who is signed in.
import type { Browser, Page } from "playwright-core";
import type { TestService } from "./service.js";

/** A page of the console as whoever has a token. */
export async function openConsole(
  browser: Browser,
  { url }: TestService,
  token: string,
  address: string,
  options: Parameters<Browser["newContext"]>[0] = {},
): Promise<Page> {
  const context = await browser.newContext(options);
  await context.addInitScript(
    `sessionStorage.setItem("opwright docs tokens", ${JSON.stringify(JSON.stringify({ access_token: token }))})`,
  );
  const page = await context.newPage();
  page.on("dialog", (dialog) => void dialog.accept());
  await page.goto(`${url}/console#${address}`);
  await page.waitForSelector("main h1, main .empty");
  return page;
}
