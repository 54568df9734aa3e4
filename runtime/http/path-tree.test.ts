// Paths with placeholders (service.md "Paths"): precedence, encoding, ends.
import { expect, test } from "vitest";
import { PathTree } from "./path-tree.js";

const paths = [
  "/",
  "/tasks",
  "/tasks/mine",
  "/tasks/{id}",
  "/tasks/{id}/comments/{comment}",
  "/tasks/mine/{+rest}",
  "/files/{+key}",
  "/{kind}/all",
  "/a;b/$x",
];
const tree = new PathTree<string>();
for (const path of paths) tree.add(path, path);

const long = "x".repeat(2048);

test.each<readonly [string, string | null, Readonly<Record<string, string>>]>([
  ["/", "/", {}],
  ["/tasks", "/tasks", {}],
  ["/tasks/", "/tasks/{id}", { id: "" }],
  ["/tasks/mine", "/tasks/mine", {}],
  ["/tasks/%6dine", "/tasks/mine", {}],
  ["/tasks/1", "/tasks/{id}", { id: "1" }],
  ["/tasks/a%2Fb%25", "/tasks/{id}", { id: "a/b%" }],
  ["/tasks/1/comments/2", "/tasks/{id}/comments/{comment}", { id: "1", comment: "2" }],
  ["/tasks/mine/a/b", "/tasks/mine/{+rest}", { rest: "a/b" }],
  ["/tasks/mine/comments/2", "/tasks/mine/{+rest}", { rest: "comments/2" }],
  ["/tasks/all", "/tasks/{id}", { id: "all" }],
  ["/notes/all", "/{kind}/all", { kind: "notes" }],
  ["/files/all", "/files/{+key}", { key: "all" }],
  ["/files/", "/files/{+key}", { key: "" }],
  ["/files/a//b%20c/", "/files/{+key}", { key: "a//b c/" }],
  ["/a;b/$x", "/a;b/$x", {}],
  ["/a;b/%24x", null, {}],
  [`/tasks/${long}`, "/tasks/{id}", { id: long }],
  [`/tasks/${long}x`, null, {}],
  ["/files", null, {}],
  ["/Tasks", null, {}],
  ["//tasks", null, {}],
  ["/tasks/1/comments", null, {}],
])("%s leads to %s", (path, value, values) => {
  expect(tree.find(path)).toEqual(value === null ? null : { value, path: values });
});

test.each(["/tasks/%", "/tasks/%zz", "/%E0%A4", "/nowhere/%c3%28"])("%s is no encoding", (path) => {
  expect(() => tree.find(path)).toThrow(URIError);
});
