import { describe, expect, test } from "vitest";
import { nounOf } from "./nouns.js";

describe("what summaries call documents", () => {
  test.each([
    ["tasks", "a task", "tasks"],
    ["access_logs", "an access log", "access logs"],
    ["people", "a person", "people"],
    ["users", "a user", "users"],
    ["hours", "an hour", "hours"],
    ["categories", "a category", "categories"],
    ["analyses", "an analysis", "analyses"],
    ["statuses", "a status", "statuses"],
    ["sheep", "a sheep", "sheep"],
  ])("%s: the usual rules of English know %s", (name, a, many) => {
    expect(nounOf(name)).toMatchObject({ a, many });
  });

  test("what the registry says comes first, abbreviations with the article of their sound", () => {
    expect(nounOf("caches", "cache").a).toBe("a cache");
    expect(nounOf("links", "URL").a).toBe("a URL");
    expect(nounOf("rules", "SLA rule")).toEqual({
      one: "SLA rule",
      a: "an SLA rule",
      many: "rules",
    });
  });
});
