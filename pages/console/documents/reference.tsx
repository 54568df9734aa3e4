// A choice among the documents that a reference may lead to: by their names, or an id as it is.
import { useEffect, useState } from "preact/hooks";
import type { JSX } from "preact";
import type { ControlProps } from "../../parts/schema-form.js";
import type { Api, Json } from "../api.js";
import { isId } from "../short-id.js";
import { documentKind, titleMember, titleOf } from "./document.js";
import { containing } from "./filters.js";

/** Documents that are offered at a time. */
const offered = 20;

interface ReferenceProps extends ControlProps {
  readonly api: Api;
  /** The document that it leads to. */
  readonly to: string;
}

/** A text field that offers documents; its value is an id. */
export function ReferenceControl({
  api,
  to,
  id,
  value,
  required,
  onValue,
}: ReferenceProps): JSX.Element {
  const kind = documentKind(api, to);
  const [found, setFound] = useState<readonly Json[]>([]);
  const chosen = found.find((one) => one["id"] === value);
  useEffect(() => {
    let isWanted = true;
    const member = titleMember(kind);
    const isById = isId(value);
    const filters =
      value === "" || (member === null && !isById)
        ? {}
        : { $values: isById ? { id: value } : { [member ?? "id"]: { $ilike: containing(value) } } };
    const wait = setTimeout(async () => {
      if (kind.list === null) return;
      const { hits } = await api
        .call<{ readonly hits: readonly Json[] }>(kind.list, { filters, size: offered })
        .catch(() => ({ hits: [] }));
      if (isWanted) setFound(hits);
    }, 150);
    return () => {
      isWanted = false;
      clearTimeout(wait);
    };
  }, [value]);
  return (
    <>
      <input
        id={id}
        list={`${id}-choices`}
        value={value}
        required={required}
        autocomplete="off"
        placeholder={`an id, or words to find ${to} by`}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
      <datalist id={`${id}-choices`}>
        {found.map((one) => (
          <option key={String(one["id"])} value={String(one["id"])}>
            {titleOf(kind, one)}
          </option>
        ))}
      </datalist>
      {chosen !== undefined && (
        <small>
          <a href={`#documents/${to}/${value}`}>{titleOf(kind, chosen)}</a>
        </small>
      )}
    </>
  );
}
