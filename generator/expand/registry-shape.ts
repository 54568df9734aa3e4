// The registry format: every section and key, once (shared by checking and by the editors' JSON
// Schema).
import { approval, hook, policyStep, service, topLevelMount } from "../load/core-format.js";
import {
  extensions,
  typeOrFields,
  listOf,
  mapOf,
  optional,
  reference,
  required,
  typeName,
} from "../load/format-parts.js";
import { documentKeys } from "../load/other-words.js";
import type { ObjectShape, RegistryFormat } from "../load/load.js";
import { families } from "../families/index.js";

/** The shape of every section: what every registry has, and the sections of the families. */
export const registryShape: ObjectShape = {
  kind: "object",
  ...extensions,
  otherWords: documentKeys,
  members: {
    service: {
      ...required(service, "The service as a whole."),
      alsoCalled: ["info", "app", "application"],
    },
    policies: {
      ...optional(
        mapOf(listOf(policyStep), undefined, undefined, "staff"),
        "Named, ordered lists of hooks; a guard names one.",
      ),
      alsoCalled: ["guards", "access", "security", "permissions"],
    },
    hooks: {
      ...optional(
        mapOf(hook, undefined, undefined, "stamp"),
        "Hooks of the author's own, by name.",
      ),
      alsoCalled: ["middleware", "middlewares"],
    },
    scopes: optional(
      mapOf(reference, undefined, undefined, "team_rows"),
      "Row filters by name: functions that say which rows a caller sees.",
    ),
    types: {
      ...optional(
        mapOf(typeOrFields, typeName, "a type name in [A-Z][A-Za-z0-9]*", "Task"),
        "Types by name: fields, a list of values, or a JSON Schema.",
      ),
      alsoCalled: ["components", "schemas", "definitions", "enums", "dtos", "interfaces"],
    },
    ...Object.assign({}, ...families.map(({ format }) => format)),
    mounts: optional(
      mapOf(topLevelMount, undefined, undefined, "public_tasks"),
      "Further mounts of a namespace.",
    ),
    approved: optional(
      mapOf(approval, /^/, "a change as `opwright diff` tells it", "tasks.list is no longer there"),
      "Changes that break clients or open access and may be made, by their texts, each with the reason and the operations that it was given for.",
    ),
  },
};

/** The format of a registry, and how some sections are rewritten into others. */
export const registryFormat: RegistryFormat = {
  shape: registryShape,
  rewrites: families.map(({ rewrite }) => rewrite),
};
