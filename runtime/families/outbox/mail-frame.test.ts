import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { frameMail } from "./mail-frame.js";

const content = {
  heading: "Tom & <Ann>",
  paragraphs: ['Your "order" is on its way.', "Two\nlines"],
  action: { label: "Look at it", url: "https://shop.example.test/orders?id=1&a=<b>" },
  footer: "You have this mail because you ordered.",
};

test("text and HTML have the same words", () => {
  const { text, html } = frameMail(content);
  expect(text).toBe(
    [
      "Tom & <Ann>",
      'Your "order" is on its way.',
      "Two\nlines",
      "Look at it: https://shop.example.test/orders?id=1&a=<b>",
      "-- \nYou have this mail because you ordered.",
    ].join("\n\n"),
  );
  for (const words of ["Tom &amp; &lt;Ann&gt;", "Two<br>lines", "Look at it", content.footer])
    expect(html).toContain(words);
  expect(html).toContain('href="https://shop.example.test/orders?id=1&amp;a=%3Cb%3E"');
  expect(html).not.toMatch(/<Ann>|<b>/);
});

test("the first paragraph is what lists show, unless another text is given", () => {
  const shown = (html: string) => /display:none">([^<]*)</.exec(html)?.[1];
  expect(shown(frameMail(content).html)).toBe("Your &quot;order&quot; is on its way.");
  expect(shown(frameMail({ ...content, preview: "Shipped" }).html)).toBe("Shipped");
});

test.each(["javascript:alert(1)", "data:text/html,x", "not a URL", ""])(
  "an action at %s is refused",
  (url) => {
    expect(() => frameMail({ ...content, action: { label: "x", url } })).toThrow(TypeError);
  },
);

test("its colours are those of the pages", () => {
  const design = readFileSync(new URL("../../../pages/design/style.css", import.meta.url), "utf8");
  const colours = new Set(frameMail(content).html.match(/#[0-9a-f]{6}/g));
  expect(colours.size).toBeGreaterThan(3);
  for (const colour of colours) expect(design).toContain(colour);
});
