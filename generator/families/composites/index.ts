// The composites family: documents, their search and their files in one declaration, said as those three before anything is expanded.
import { expansion, family } from "../../kernel/family.js";
import type { Declarations } from "../../load/declarations.js";
import { documents } from "../documents/index.js";
import { search } from "../search/index.js";
import { storage } from "../storage/index.js";
import { format } from "./format.js";
import { withComposites } from "./rewrite.js";

export const composites = family({
  name: "composites",
  format,
  after: [documents, search, storage],
  rewrite: (tree, soundIn, report) =>
    withComposites(tree, soundIn("composites") as Declarations["composites"], report),
  expand: () => expansion(null),
});
