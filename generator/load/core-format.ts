// The format of the sections that every registry has, whatever families there are.
import { hookPhases } from "../model/vocabulary.js";
import {
  duration,
  errorCode,
  formerlyCalled,
  extensions,
  typeOrFields,
  hookReference,
  listOf,
  mountMembers,
  mountPath,
  name,
  optional,
  permission,
  reference,
  required,
  style,
  text,
} from "./format-parts.js";
import { stepWords } from "./other-words.js";
import { rateAdvice } from "./quantity-advice.js";
import type { FormatShape } from "./shape.js";
import { nameAdvice, permissionAdvice, versionAdvice } from "./text-advice.js";

/** https://semver.org §2, §9 and §10. */
const version =
  /^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

const change = {
  kind: "string",
  what: "a text",
  example: "tasks.list",
} as const satisfies FormatShape;

/** The reason alone is enough for what clients meet in one place. */
export const approval = {
  kind: "either",
  of: [
    { kind: "string", what: "a text", example: "Nobody calls it." },
    {
      kind: "object",
      members: {
        reason: required(text, "Why clients bear it.", "Nobody calls it."),
        in: required(listOf(change, 1), "The operations, events and commands that are meant.", [
          "tasks.list",
        ]),
      },
    },
  ],
} as const satisfies FormatShape;

const webAddress = {
  kind: "string",
  pattern: /^https?:\/\/[^\s]+$/,
  what: "an address such as https://example.com",
  example: "https://example.com",
} as const satisfies FormatShape;

const probePath = {
  kind: "string",
  pattern: /^(?:\/[A-Za-z0-9._~-]+)+$/,
  what: "the path of a probe, such as /health/live",
  form: "path",
  example: "/health/live",
} as const satisfies FormatShape;

export const service = {
  kind: "object",
  ...extensions,
  members: {
    name: required(
      {
        kind: "string",
        pattern: name,
        what: "a name in [a-z][a-z0-9_]*",
        form: "name",
        example: "tracker",
        advice: nameAdvice(name),
      },
      "The name of the service: tokens and API keys say it.",
    ),
    was: optional(
      formerlyCalled,
      "What the service was called first: tokens, API keys and what processes share keep that name.",
    ),
    title: required(text, "The title of the API's documents.", "Tracker"),
    version: required(
      {
        kind: "string",
        pattern: version,
        what: "a version such as 1.0.0",
        form: "version",
        example: "1.0.0",
        advice: versionAdvice,
      },
      "The version of the API.",
    ),
    description: optional(
      text,
      "What the service is for, in Markdown.",
      "Tasks and their comments.",
    ),
    contact: optional(
      {
        kind: "object",
        members: {
          name: optional(text, "A name.", "The tracker team"),
          url: optional(webAddress, "A page."),
          email: optional(
            {
              kind: "string",
              pattern: /^[^@\s]+@[^@\s]+$/,
              what: "an address of mail",
              example: "tracker@example.com",
            },
            "An address of mail.",
          ),
        },
      },
      "Whom to ask about the API.",
    ),
    license: optional(
      {
        kind: "object",
        members: {
          name: required(text, "Its name.", "Apache 2.0"),
          identifier: optional(
            {
              kind: "string",
              pattern: /^[A-Za-z0-9.+() -]+$/,
              what: "an SPDX expression",
              example: "Apache-2.0",
            },
            "The license as SPDX has it, such as Apache-2.0; a page where left out.",
          ),
          url: optional(webAddress, "The page of the license, where there is no identifier."),
        },
      },
      "The terms of the API.",
    ),
    style: optional(style, "The default style of document routes: rest or rpc."),
    transaction: optional(
      {
        kind: "string",
        pattern: name,
        what: "a name in [a-z][a-z0-9_]*",
        form: "name",
        example: "main",
      },
      "The transaction route of this service.",
    ),
    deadline: optional(
      duration,
      "The time budget of operations that declare none; 30s where left out.",
    ),
    probes: optional(
      {
        kind: "object",
        members: {
          livez: optional(probePath, "Whether the process lives; /livez where left out."),
          readyz: optional(probePath, "Whether it takes requests; /readyz where left out."),
        },
      },
      "Where probes are.",
    ),
    errors: optional(
      {
        kind: "object",
        members: {
          envelope: required(
            reference,
            "Makes the body of every error: a function of the type Envelope.",
          ),
          out: required(typeOrFields, "What that body is: fields, or a type's name.", {
            message: "string",
          }),
        },
      },
      "How errors are answered; with opwright's envelope where left out.",
    ),
    slo: optional(
      {
        kind: "object",
        members: {
          availability: required(
            { kind: "number", minimum: 99, maximum: 99.999 },
            "The percentage of requests that must not fail with a status of 500 or more.",
          ),
          latency: optional(duration, "The time within which requests are answered."),
          within: optional(
            { kind: "number", minimum: 95, maximum: 99.99 },
            "The percentage of requests that must be answered within that time; 99 where left out.",
          ),
          slow: optional(
            listOf({
              kind: "string",
              pattern: /^[a-z][a-z0-9_]*\.(?:[a-z][a-z0-9_]*|\*)$/,
              what: "an operation such as tasks.get, or tasks.* for all of a namespace",
              example: "reports.*",
            }),
            "Operations of which no latency is asked.",
          ),
        },
        shown: ["latency"],
      },
      "The objectives of the service, from which alerts and a dashboard are printed.",
    ),
    app: optional(
      reference,
      "An Express app, or any (req, res, next) handler, behind the generated routes.",
    ),
  },
} as const satisfies FormatShape;

const step = { kind: "string", what: "a text", example: "stamp" } as const satisfies FormatShape;

export const hook = {
  kind: "object",
  members: {
    run: required(hookReference, "The function, as file#export."),
    phase: required({ kind: "oneOf", values: hookPhases }, "When it runs."),
    requires: optional(listOf(step), "Steps that must have run before.", ["principal"]),
    provides: optional(listOf(step), "Steps that this hook provides; its own name is always one.", [
      "stamp",
    ]),
    errors: optional(listOf(errorCode), "Errors of `errors` that it may throw."),
  },
} as const satisfies FormatShape;

const actionPattern = /^(?:\{resource\}|[a-z][a-z0-9_]*)\.[a-z][a-z0-9_]*$/;
const action = {
  kind: "string",
  pattern: actionPattern,
  what: "an action such as {resource}.read",
  example: "{resource}.read",
  advice: permissionAdvice(actionPattern),
} as const satisfies FormatShape;

/**
 * A step of a policy: a hook by its name or as a function, or one of the runtime with its argument.
 */
export const policyStep = {
  kind: "either",
  of: [
    {
      kind: "string",
      what: "a hook's name, or file#export",
      names: "hook",
      example: "principal",
    },
    {
      kind: "choice",
      otherWords: stepWords,
      members: {
        authorize: {
          shape: action,
          description: "The permission that the caller needs; {resource} is the namespace.",
        },
        scope: {
          shape: text,
          description: "Which rows the caller sees: own_rows, or one of `scopes`.",
          example: "own_rows",
        },
        rate_limit: {
          shape: {
            kind: "string",
            pattern: /^[1-9]\d*\/[1-9]\d*(?:s|m|h|d)$/,
            what: "a rate such as 100/1m",
            form: "rate",
            example: "100/1m",
            advice: rateAdvice,
          },
          description: "How often one caller may run each operation.",
        },
      },
      beside: {
        override: optional(
          listOf(permission, 1),
          "Of a scope: permissions whose holders see every row, such as admin or {resource}.admin; none where left out.",
        ),
        strangers: optional(
          { kind: "constant", value: true },
          "Of a scope: it also restricts callers who are not signed in, for whom its function gets no identity.",
        ),
        was: optional(
          action,
          "Of authorize: what the permission was called when it was first granted. Grants keep that name.",
        ),
      },
    },
  ],
} as const satisfies FormatShape;

export const topLevelMount = {
  kind: "object",
  members: {
    namespace: optional({ kind: "name", of: "namespaces" }, "The namespace to attach."),
    prefix: optional(
      mountPath,
      "The prefix that the namespace is registered under, instead of its name.",
    ),
    ...mountMembers,
  },
} as const satisfies FormatShape;
