// What other formats call the keys of a job, and how it is said here.
import { saidBy, wordsFor } from "../../load/other-words.js";
import type { OtherWords } from "../../load/shape.js";

export const jobWords: OtherWords = {
  ...wordsFor("run", "handler function processor worker task exec"),
  ...wordsFor("in", "input data payload args params"),
  ...wordsFor("retries", "attempts retry max_attempts maxAttempts retryLimit"),
  ...wordsFor("cron", "schedule every interval repeat at"),
  ...wordsFor("timezone", "tz time_zone timeZone"),
  ...wordsFor("concurrency", "limit limits max_concurrency parallel"),
  ...wordsFor("unique", "singleton key dedupe"),
  ...wordsFor("keep", "retention remove_on_complete"),
  ...saidBy(
    'A delay and a priority are said where a job is enqueued: `enqueue(context, name, input, {delay: "2h", priority: 10})`.',
    "delay priority",
  ),
};
