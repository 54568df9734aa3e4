// Inputs of storage operations: keys, ranges of downloads, forms (service.md "Storage routes").
import { header, params, path, query, type InputBinding } from "../../operations/input.js";
import type { IncomingForm } from "./form.js";

/** An input that is a form, which the handler reads. */
export interface FormInput {
  readonly form: IncomingForm;
}

const key = { key: path.string };

const download = params({
  ...key,
  ifRange: header("if-range"),
  range: header("range"),
});

/** Bindings of storage operations. */
export const storageInput = {
  key: params(key),
  range: params({ ...key, range: query.string }),
  download,
  upload: {
    parameters: {},
    body: { as: { member: "form" }, isForm: true, check: undefined },
    validate: undefined,
  } as InputBinding<FormInput>,
};
