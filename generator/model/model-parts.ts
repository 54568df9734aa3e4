// The parts that families add to the model, as far as registry.json has to know of them.
import type { FamilyModels, HookUse } from "./registry.js";

/** A part of the model, under its name. */
interface ModelPart {
  /** Its value where the registry declares nothing; left out if the part is absent then. */
  readonly empty?: null | Readonly<Record<string, never>>;
  /** Its name in registries of earlier versions, if they called it otherwise. */
  readonly was?: string;
  /**
   * Usual values of its members: registry.json leaves these out, and registries that were frozen
   * without such a member are read with it.
   */
  readonly usually?: object;
  /** The same where the part is a map: those of each value. */
  readonly ofEach?: object;
  /** The present form of what earlier versions have frozen. */
  readonly thaw?: (frozen: object) => object;
  /** The present form of a hook that earlier versions have frozen, in a namespace. */
  readonly thawHook?: (part: object, hook: HookUse, namespace: string) => HookUse;
}

/** Parts by their names in the model. */
export type ModelParts = Readonly<Record<string, ModelPart>>;

/** The parts of a registry that declares none of them. */
export function emptyParts(parts: ModelParts): FamilyModels {
  const given = Object.entries(parts).filter(([, { empty }]) => empty !== undefined);
  // Whoever adds a member to the type declares its part as well (family-contract.test.ts).
  return Object.fromEntries(
    given.map(([name, { empty }]) => [name, empty]),
  ) as unknown as FamilyModels;
}
