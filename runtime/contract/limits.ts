// Numbers that both the generator's documents and the running service state (decisions.md §1).

export const limits = {
  /** Characters of the JSON text of a job's input, and of the result of one of its steps. */
  maxJobCharacters: 1_048_576,
  /** Steps that one attempt of a run goes through. */
  maxJobSteps: 10_000,
  /** Hits on one page of a list. */
  maxPageSize: 10_000,
  defaultPageSize: 10,
  /** Hits of a search over others. */
  defaultJointSize: 20,
  /** The highest page number that can be written; the scan ceiling of a deployment is lower. */
  /** The highest bound of a count. */
  maxCount: 1_000_000,
  maxPage: 10 ** 11,
  /** Sort keys of one query, before `id` is appended. */
  maxSorts: 8,
  /** Operands of one `$in`. */
  maxInOperands: 1_000,
  /** Characters of one text that a field is compared with. */
  maxOperandLength: 10_000,
  /** Filters within filters. */
  maxFilterDepth: 32,
  /** How many levels a condition on other documents counts as: in SQL it is a nested statement. */
  relatedDepth: 12,
  /** Limits of `expand`: how many paths, and how many levels. */
  maxExpansions: 16,
  maxExpansionDepth: 2,
  /** Documents that one request may write, at most. */
  maxBulk: 1_000,
  maxTransactionRetries: 20,
  /** Characters of one pattern. */
  maxPatternLength: 256,
  /** Characters of one text that is searched for. */
  maxQueryLength: 1_000,
  /** Different words of one search. */
  maxQueryWords: 64,
  /**
   * Different words of one search for which other spellings are tried, and how many spellings of
   * each.
   */
  maxFuzzyWords: 16,
  maxSpellings: 32,
  /** How many words of one field a search indexes, and how many characters of each. */
  maxIndexedWords: 4_000,
  maxIndexedLength: 64 * 1024,
  /** Nodes of one filter. */
  maxFilterNodes: 512,
  /** Alternatives of a pattern. */
  maxAlternatives: 32,
  /** Constraints in one query. */
  maxClauses: 256,
  /** Characters of a `cid`, by which a realtime client matches answers to commands. */
  maxCidLength: 1_024,
  /** Seconds of an operation that declares no deadline, in a service that declares none. */
  defaultDeadlineSeconds: 30,
  /** Bytes of a JSON request body. */
  maxBodyBytes: 1024 * 1024,
  /** Nesting of a JSON request body. */
  maxJsonDepth: 96,
  /** Values (scalars, arrays and objects together) in a JSON request body. */
  maxJsonValues: 100_000,
  /** Bytes of stored documents on one page of a list. */
  maxPageBytes: 16 * 1024 * 1024,
  /** Validation errors reported for one request. */
  maxReportedErrors: 32,
} as const;

/** An Idempotency-Key, as a pattern of JSON Schema: 1 to 255 visible ASCII characters. */
export const idempotencyKeyPattern = "^[\\x21-\\x7e]{1,255}$";

const idempotencyKey = new RegExp(idempotencyKeyPattern);

export function isIdempotencyKey(given: unknown): given is string {
  return typeof given === "string" && idempotencyKey.test(given);
}
