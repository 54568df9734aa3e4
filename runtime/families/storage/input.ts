// Inputs of storage operations: keys, conditions of downloads, forms (service.md "Storage routes").
import { header, params, path, query, type InputBinding } from "../../operations/input.js";
import type { Conditions } from "./conditions.js";
import type { IncomingForm } from "./form.js";

const key = { key: path.string };

const download: InputBinding<{ readonly key: string } & Conditions> = {
  ...params({
    ...key,
    ifMatch: header("if-match"),
    ifNoneMatch: header("if-none-match"),
    ifModifiedSince: header("if-modified-since"),
    ifUnmodifiedSince: header("if-unmodified-since"),
    ifRange: header("if-range"),
    range: header("range"),
  }),
  // The parameters have just been named one by one as Conditions has them.
} as InputBinding<{ readonly key: string } & Conditions>;

/** Bindings of storage operations. */
export const storageInput = {
  key: params(key),
  range: params({ ...key, range: query.string }),
  download,
  upload: {
    parameters: {},
    body: { as: { member: "form" }, isForm: true, check: undefined },
    validate: undefined,
  } as InputBinding<{ readonly form: IncomingForm }>,
};
