// The composites family: its declarations are written as documents, searches and storages before anything is expanded (load/composites.ts).
import { expansion, family } from "../../kernel/family.js";
import { format } from "./format.js";

export const composites = family({ name: "composites", format, expand: () => expansion(null) });
