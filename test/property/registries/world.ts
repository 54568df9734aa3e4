// What a random registry is chosen from: what has been made of it so far.
import { isMap } from "../../../generator/load/shape.js";
import type { Draw } from "./draw.js";

export type Json = Readonly<Record<string, unknown>>;

export interface World {
  readonly draw: Draw;
  /** Sections that are whole. */
  readonly made: Record<string, unknown>;
  /** Fields as they are declared, of documents, searches and signals: by `documents.tasks` and the like. */
  readonly fields: Map<string, Json>;
  /** The types of documents that have a name, likewise. */
  readonly typeNames: Map<string, string>;
  /** Names of namespaces of this registry. */
  readonly namespaces: readonly string[];
  /** Functions of the author's that are named. */
  readonly references: Set<string>;
  /** Where something is mounted. */
  readonly mounts: Set<string>;
}

/** A section that is a map, as far as it is made. */
export function section({ made }: World, name: string): Json {
  const found = made[name];
  return isMap(found) ? found : {};
}
