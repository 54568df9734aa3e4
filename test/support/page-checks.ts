// What is checked of every page in a browser: what axe finds, and whether it fits its window.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds in a page. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { axe: checker, document } = globalThis as unknown as {
      readonly document: object;
      readonly axe: {
        run(
          of: object,
          options: object,
        ): Promise<{
          readonly violations: readonly {
            readonly id: string;
            readonly nodes: readonly { readonly html: string }[];
          }[];
        }>;
      };
    };
    const runOnly = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    const { violations } = await checker.run(document, { runOnly });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
  });
}

/** How many pixels a page is wider than its window. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate(() => {
    const { document } = globalThis as unknown as {
      readonly document: {
        readonly documentElement: { readonly scrollWidth: number; readonly clientWidth: number };
      };
    };
    return document.documentElement.scrollWidth - document.documentElement.clientWidth;
  });
}

const isEveryLook = process.env["OPWRIGHT_TEST_PAGES"] === "all";
const widths = [390, 768, 1280];

/**
 * Checks a page in a colour scheme: that it fits its window at three widths, and that axe finds nothing: in light at the
 * narrowest and the widest, in dark, which differs in colours alone, at the widest. With OPWRIGHT_TEST_PAGES=all axe looks
 * at every one.
 */
export async function expectGoodLooks(
  page: Page,
  scheme: "light" | "dark",
  place = "",
): Promise<void> {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    expect([width, place, await overflowOf(page)]).toEqual([width, place, 0]);
    const isLooked = isEveryLook || width === 1280 || (width === 390 && scheme === "light");
    if (isLooked) expect([width, place, await violationsOf(page)]).toEqual([width, place, []]);
  }
}

/** Presses Tab until what has the focus fits: `#id` of what has one, otherwise its text. */
export async function focusByTab(
  page: Page,
  isWanted: (focused: string) => boolean,
): Promise<void> {
  for (let presses = 0; presses < 200; presses += 1) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate(() => {
      const { document } = globalThis as unknown as {
        readonly document: {
          readonly activeElement: { readonly id: string; readonly textContent: string } | null;
        };
      };
      const { id = "", textContent = "" } = document.activeElement ?? {};
      return id === "" ? textContent : `#${id}`;
    });
    if (isWanted(focused)) return;
  }
  throw new Error("nothing of that kind can be reached by Tab");
}
