// The options of a URL, read as the server reads them.
import { describe, expect, test } from "vitest";
import { readStartupOptions } from "./startup-options.js";

describe("the options of a startup packet", () => {
  test.each([
    ["", []],
    ["-c search_path=app", [["search_path", "app"]]],
    [
      "-csearch_path=app  --work-mem=4MB",
      [
        ["search_path", "app"],
        ["work_mem", "4MB"],
      ],
    ],
    [String.raw`-c search_path=a,\ b\\c`, [["search_path", String.raw`a, b\c`]]],
    ["-c app.name=x=y", [["app.name", "x=y"]]],
    ["--geqo=", [["geqo", ""]]],
  ])("%j", (options, settings) => {
    expect(readStartupOptions(options)).toEqual(settings);
  });

  test.each(["-d 1", "-c", "-c name", "search_path=app", "-c 1=2", "-B 5 -c a=b"])(
    "%j can't be read",
    (options) => {
      expect(() => readStartupOptions(options)).toThrow("has options that can't be read");
    },
  );
});
