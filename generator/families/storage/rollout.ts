// What changes of storages take of a rollout: files stay where they are, and as they are.
import {
  need,
  needsOfAll,
  type Need,
  type RolloutRules,
  type RolloutSide,
} from "../../compare/rollout.js";
import { otherEncryption, placeOf } from "../../model/stored-files.js";
import type { StorageModel } from "./model.js";

const storage: RolloutRules<StorageModel> = {
  // Storages are compared by the place of their files.
  name: null,
  was: null,
  source: null,
  maxUploadBytes: null,
  maxRangeBytes: null,
  // What is stored already is served whatever it is.
  accept: null,
  detect: null,
  // The version before serves what it takes in at once, and has nothing in quarantine.
  scan: (_was, is, { name }) =>
    need(
      "safe to roll",
      is === null
        ? `uploads to ${name} that are not decided on are not served any more`
        : `the version before still serves what is uploaded to it at once`,
    ),
  encryption: (was, is, { name, before }) => {
    const readable = [was.encryption, ...otherEncryption(was, before.database.files)];
    if (readable.includes(is.encryption))
      return need(
        "safe to roll",
        `files of ${name} that are stored already stay as they are: keep SECRETS_OBJECTS set`,
      );
    return need(
      "needs two releases",
      `the version before cannot read files of ${name} that are stored with encryption ${is.encryption}: first roll out \`also_reads: [${is.encryption}]\`, then the change`,
    );
  },
  alsoReads: null,
  countUpTo: null,
  isStreamed: null,
};

/** Storages of two registries by the place of their files. */
export function rollout(before: RolloutSide, after: RolloutSide): readonly Need[] {
  const byPlace = ({ model, database }: RolloutSide): Readonly<Record<string, StorageModel>> =>
    Object.fromEntries(
      Object.values(model.storage).map((one) => [placeOf(one, database.files), one]),
    );
  const storages = [byPlace(before), byPlace(after)] as const;
  const isNew = Object.keys(storages[1]).some((place) => !Object.hasOwn(storages[0], place));
  return needsOfAll(storages, storage, [before, after], ({ name }, { name: place }) =>
    need(
      isNew ? "leaves stored things behind" : "safe to roll",
      isNew
        ? `the files of ${name} stay where they are, and nobody reaches them: if it is called otherwise, say \`was: ${place}\``
        : `the files of ${name} stay where they are, and nobody reaches them`,
    ),
  );
}
