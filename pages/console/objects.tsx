// The objects of a storage: found by the beginning of their keys, shown, uploaded and deleted.
import { useEffect, useState } from "preact/hooks";
import type { JSX } from "preact";
import { namespaceOf } from "../openapi/catalog.js";
import { controlsOf, firstValues, objectOf } from "../openapi/form-values.js";
import { Empty } from "../parts/empty.js";
import { errorOf, Fault } from "../parts/fault.js";
import { Field } from "../parts/field.js";
import { SchemaForm } from "../parts/schema-form.js";
import { useLoaded } from "../shell/use-loaded.js";
import { Action } from "./action.js";
import { bodySchema, type Api, type Json } from "./api.js";
import { Facts } from "./facts.js";
import { useNotice, type Say } from "./notice.js";
import { Value } from "./value.js";

const pageSize = 50;
/** Bytes of a text that are shown, and of an image. */
const mostShown = { text: 65_536, image: 20_000_000 };

/** The storages whose objects the caller may list. */
export function storagesOf(api: Api): readonly string[] {
  const ofStorage = api.catalog.operations.filter(({ family }) => family === "storage");
  return [...new Set(ofStorage.map(namespaceOf))].filter((name) => api.can(`${name}.list`));
}

interface StoredObject extends Json {
  readonly key: string;
  readonly size: number;
  readonly content_type: string;
}

/** The objects of a storage. */
export function ObjectList({
  api,
  name,
}: {
  readonly api: Api;
  readonly name: string;
}): JSX.Element {
  const [prefix, setPrefix] = useState("");
  const [page, setPage] = useState(1);
  const [version, setVersion] = useState(0);
  const [chosen, choose] = useState<StoredObject | null>(null);
  const [notice, say] = useNotice();
  const loaded = useLoaded(
    () =>
      api.call<{ readonly hits: readonly StoredObject[] }>(`${name}.list`, {
        size: pageSize,
        page,
        ...(prefix === "" ? {} : { prefix }),
      }),
    [name, prefix, page, version],
  );
  const reload = (): void => {
    choose(null);
    setVersion(version + 1);
  };
  return (
    <div class="stack">
      <h1>{name}</h1>
      <Field label="Keys that begin with">
        <input
          id="prefix"
          value={prefix}
          onInput={(event) => {
            setPage(1);
            setPrefix(event.currentTarget.value);
          }}
        />
      </Field>
      {notice}
      {loaded.state === "failed" && <Fault error={loaded.error} />}
      {loaded.state === "loaded" && (
        <div class={chosen === null ? "stack" : "split"}>
          <div class="stack">
            <Table objects={loaded.value.hits} choose={choose} />
            <Pager page={page} isLast={loaded.value.hits.length < pageSize} go={setPage} />
          </div>
          {chosen !== null && (
            <Details key={chosen.key} {...{ api, name, say, reload }} object={chosen} />
          )}
        </div>
      )}
      {api.can(`${name}.upload`) && <Upload {...{ api, name, say, reload }} />}
    </div>
  );
}

function Pager({
  page,
  isLast,
  go,
}: {
  readonly page: number;
  readonly isLast: boolean;
  readonly go: (page: number) => void;
}): JSX.Element | null {
  if (page === 1 && isLast) return null;
  return (
    <p class="row">
      <button type="button" disabled={page === 1} onClick={() => go(page - 1)}>
        Previous
      </button>
      <button type="button" disabled={isLast} onClick={() => go(page + 1)}>
        Next
      </button>
    </p>
  );
}

function Table({
  objects,
  choose,
}: {
  readonly objects: readonly StoredObject[];
  readonly choose: (object: StoredObject) => void;
}): JSX.Element {
  if (objects.length === 0)
    return <Empty title="Nothing here">There is no object, or none with such a key.</Empty>;
  return (
    <table class="folding">
      <thead>
        <tr>
          <th scope="col">object</th>
          <th scope="col">size</th>
          <th scope="col">content_type</th>
          <th scope="col">created_at</th>
        </tr>
      </thead>
      <tbody>
        {objects.map((object) => (
          <tr key={object.key}>
            <td>
              <button class="plain" type="button" onClick={() => choose(object)}>
                {String(object["filename"] ?? object.key)}
              </button>
              <div class="small quiet">{object.key}</div>
            </td>
            <td data-label="size">{sizeText(object.size)}</td>
            <td data-label="content_type">{object.content_type}</td>
            <td data-label="created_at">
              <Value value={object["created_at"]} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** `12 KB`, in steps of a thousand. */
function sizeText(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  return `${Math.round(bytes / 1_000 ** step)} ${units[step]}`;
}

interface ObjectProps {
  readonly api: Api;
  readonly name: string;
  readonly say: Say;
  readonly reload: () => void;
}

function Details({
  api,
  name,
  object,
  say,
  reload,
}: ObjectProps & { readonly object: StoredObject }): JSX.Element {
  const { key } = object;
  const members = Object.entries(object).filter(([member]) => member !== "filename");
  return (
    <aside class="aside card stack" aria-label={key}>
      <h2>{String(object["filename"] ?? key)}</h2>
      {api.can(`${name}.download`) && <Preview {...{ api, name, object }} />}
      <Facts members={members} />
      {api.can(`${name}.delete`) && (
        <p>
          <Action
            label="Delete"
            done={`${key} is deleted.`}
            question={`Delete ${key}? It can't be brought back.`}
            say={say}
            run={() => api.call(`${name}.delete`, { key }).then(reload)}
          />
        </p>
      )}
    </aside>
  );
}

/** What an object shows of itself: an image, or the beginning of a text; and a link to save it. */
function Preview({
  api,
  name,
  object: { key, size, content_type: type, filename },
}: Pick<ObjectProps, "api" | "name"> & { readonly object: StoredObject }): JSX.Element {
  const isImage = /^image\/(?:png|jpeg|gif|webp|avif)$/.test(type) && size <= mostShown.image;
  const isText = /^text\/|json|xml|yaml/.test(type) && size <= mostShown.text;
  const [shown, setShown] = useState<{ readonly url: string; readonly text: string } | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const load = async (): Promise<{ readonly url: string; readonly text: string }> => {
    const response = await api.call<Response>(`${name}.download`, { key });
    const blob = await response.blob();
    return { url: URL.createObjectURL(blob), text: isText ? await blob.text() : "" };
  };
  useEffect(() => {
    if (isImage || isText) load().then(setShown, (fault: unknown) => setError(errorOf(fault)));
  }, [key]);
  const save = async (): Promise<void> => {
    const link = document.createElement("a");
    link.href = (shown ?? (await load())).url;
    link.download = String(filename ?? key);
    link.click();
  };
  return (
    <div class="stack tight">
      {error !== null && <Fault error={error} />}
      {isImage && shown !== null && <img src={shown.url} alt={`The content of ${key}`} />}
      {isText && shown !== null && (
        <div class="code-block">
          <pre tabIndex={0} role="region" aria-label={`The content of ${key}`}>
            {shown.text}
          </pre>
        </div>
      )}
      <p>
        <button
          type="button"
          onClick={() => void save().catch((fault: unknown) => setError(errorOf(fault)))}
        >
          Save
        </button>
      </p>
    </div>
  );
}

function Upload({ api, name, say, reload }: ObjectProps): JSX.Element {
  const operation = api.operation(`${name}.upload`);
  const schema = operation === undefined ? {} : bodySchema(api, operation);
  const controls = controlsOf(api.openapi, schema);
  const [values, setValues] = useState(() => firstValues(api.openapi, schema));
  return (
    <details>
      <summary>Upload</summary>
      <SchemaForm
        openapi={api.openapi}
        controls={controls}
        values={values}
        setValues={setValues}
        action="Upload"
        submit={async () => {
          const { key } = await api.call(`${name}.upload`, objectOf(controls, values));
          say({ text: `${String(key)} is stored.` });
          reload();
        }}
      />
    </details>
  );
}
