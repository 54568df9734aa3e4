// What other formats call the keys of an operation, and how it is said here.
import { guardWords, saidBy, wordsFor } from "../../load/other-words.js";
import type { OtherWords } from "../../load/shape.js";

export const operationWords: OtherWords = {
  ...guardWords,
  ...saidBy(
    "The path stands behind its method: `get: /tasks`, `post: /tasks/{id}/complete`.",
    "path url route endpoint method methods verb http",
  ),
  ...wordsFor("run", "handler function controller resolver action exec uses"),
  ...wordsFor("in", "input params parameters query request requestBody"),
  ...wordsFor("in", "args arguments payload"),
  ...wordsFor("out", "output response responses returns return result"),
  ...wordsFor("deadline", "timeout"),
  ...wordsFor("hooks", "middleware middlewares"),
  ...saidBy(
    "The key of an operation is its name, and what stands before its dot groups it: leave it out.",
    "operationId tags name",
  ),
};
