// npm run pictures: takes the pictures of docs/pages.md from the reference service with its demo data.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBrowser } from "./browser.mjs";
import { build, buildService, install, root } from "./prepare.mjs";

install();
build();
buildService();
const data = mkdtempSync(join(tmpdir(), "opwright-pictures-"));
const port = "4419";
const url = `http://127.0.0.1:${port}`;
const env = { ...process.env, PORT: port, DATA_DIR: data, LOG_LEVEL: "error" };
const run = (file) =>
  spawn("node", [join(root, "dist/service", file)], { cwd: root, env, stdio: "inherit" });
const server = run("generated/server.js");
for (let tries = 0; tries < 200; tries += 1) {
  if (
    await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
  )
    break;
  await new Promise((resolve) => setTimeout(resolve, 100));
}
await once(run("registry/demo/load.js"), "exit");

const pages = {
  home: "/",
  reference: "/docs",
  operation: "/docs#tasks.create",
  operations: "/docs/operations#tasks.update",
  events: "/docs/events",
  board: "/demo/live",
  error: "/nowhere",
};
const consolePages = {
  "console-list": "#documents/tasks",
  "console-document": "#documents/projects",
  "console-service": "#service",
};
/** What the picture of a document shows: a project that was changed twice. */
const change = async (page) => {
  await page.click("main td >> text=Apollo");
  for (const name of ["Apollo 11", "Apollo 12"]) {
    await page.fill("#member-name", name);
    await page.click('button:has-text("Save")');
    await page.locator("h1", { hasText: name }).waitFor();
  }
};
const folder = join(root, "docs/pictures");
mkdirSync(folder, { recursive: true });
const browser = await openBrowser();
for (const [width, height, colorScheme] of [
  [1280, 800, "light"],
  [1280, 800, "dark"],
  [390, 800, "light"],
  [390, 800, "dark"],
]) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme });
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  await page.goto(`${url}/`);
  await page.click('button:has-text("Sign in as bob")');
  await page.getByText("Signed in as bob").waitFor();
  for (const [name, path] of Object.entries(pages)) {
    await page.goto(`${url}${path}`);
    await page.waitForTimeout(600);
    if (name === "board") {
      await page.click("#connect button");
      await page.getByText("Write the checklist").waitFor();
    }
    if (name === "events") {
      await page.click("#connect");
      await page.getByText("Connected over").waitFor();
      // The button changes its colour by a transition.
      await page.waitForTimeout(500);
    }
    await picture(page, `${name}-${width}-${colorScheme}`);
  }
  await page.goto(`${url}/`);
  await page.click('button:has-text("Sign in as ada")');
  await page.getByText("Signed in as ada").waitFor();
  for (const [name, address] of Object.entries(consolePages)) {
    await page.goto(`${url}/console${address}`);
    await page.waitForTimeout(600);
    if ((await page.inputValue("#tenant")) === "") {
      await page.selectOption("#tenant", { label: "acme" });
      await page.waitForTimeout(600);
    }
    if (name === "console-document") {
      if (await page.isVisible("main td >> text=/^Apollo$/")) await change(page);
      else await page.click("main td >> text=Apollo");
      await page.click("text=Revision 2");
    }
    if (name === "console-service") await page.waitForTimeout(15_000);
    await page.waitForTimeout(600);
    await picture(page, `${name}-${width}-${colorScheme}`);
  }
  await context.close();
}

function picture(page, name) {
  return page.screenshot({ path: join(folder, `${name}.jpg`), type: "jpeg", quality: 80 });
}
await browser.close();
server.kill("SIGTERM");
await once(server, "exit");
rmSync(data, { recursive: true, force: true });
