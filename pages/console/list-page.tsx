// A list of the console: a table with what can be done with each item, and a form for another.
import { useState } from "preact/hooks";
import type { ComponentChildren, JSX } from "preact";
import { controlsOf, firstValues, objectOf } from "../openapi/form-values.js";
import { Code } from "../parts/code.js";
import { Empty } from "../parts/empty.js";
import { errorOf, Fault } from "../parts/fault.js";
import { Field } from "../parts/field.js";
import { SchemaForm } from "../parts/schema-form.js";
import { useLoaded } from "../shell/use-loaded.js";
import { Action } from "./action.js";
import { bodySchema, type Api, type Json } from "./api.js";
import type { ListKind } from "./lists.js";
import { useNotice, type Say } from "./notice.js";
import { CopiedId, isId } from "./short-id.js";
import { Value } from "./value.js";

interface ListProps {
  readonly api: Api;
  readonly kind: ListKind;
  /** The item of the outer list that this one is within; "" for none. */
  readonly parent?: string;
  /** The address of the outer list's item, or of the list itself. */
  readonly address: string;
}

/** A list, with its heading. */
export function ListPage({ api, kind, parent = "", address }: ListProps): JSX.Element {
  const [version, setVersion] = useState(0);
  const [asked, setAsked] = useState("");
  const [notice, say] = useNotice();
  const reload = (): void => setVersion(version + 1);
  const { asks } = kind;
  const isReady = asks === undefined || asked !== "";
  return (
    <div class="stack">
      <h1>{kind.title}</h1>
      {kind.hint !== undefined && <p class="small quiet">{kind.hint}</p>}
      {asks !== undefined && <AskForm label={asks.label} ask={setAsked} />}
      {notice}
      {isReady && (
        <Items
          key={asked}
          {...{ api, kind, parent, address, say, reload, version }}
          input={asks === undefined ? {} : { [asks.parameter]: asked }}
        />
      )}
      {kind.create !== undefined && api.can(kind.create) && (
        <NewItem {...{ api, kind, parent, reload }} operation={kind.create} />
      )}
    </div>
  );
}

/** What the item is called that a list stands within; nothing where it isn't found. */
export function OuterItem({
  api,
  kind,
  id,
}: {
  readonly api: Api;
  readonly kind: ListKind;
  readonly id: string;
}): JSX.Element | null {
  const { label, asks } = kind;
  const loaded = useLoaded(
    async () =>
      label === undefined || asks !== undefined
        ? []
        : itemsOf(kind, await api.call<Json>(kind.operation)),
    [id],
  );
  if (loaded.state !== "loaded" || label === undefined) return null;
  const item = loaded.value.find((one) => one[kind.id] === id);
  return item === undefined ? null : <code>{String(item[label])}</code>;
}

function AskForm({
  label,
  ask,
}: {
  readonly label: string;
  readonly ask: (text: string) => void;
}): JSX.Element {
  const [text, setText] = useState("");
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    ask(text);
  };
  return (
    <form class="row" onSubmit={submit}>
      <Field label={label}>
        <input
          id="asked"
          value={text}
          required
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </Field>
      <button type="submit">Find</button>
    </form>
  );
}

interface ItemsProps extends Required<ListProps> {
  readonly input: Json;
  readonly version: number;
  readonly say: Say;
  readonly reload: () => void;
}

function Items({
  api,
  kind,
  parent,
  address,
  input,
  version,
  say,
  reload,
}: ItemsProps): JSX.Element {
  const [further, setFurther] = useState<readonly Json[]>([]);
  const [hasMore, setHasMore] = useState<boolean | null>(null);
  const read = (extra: Json) =>
    api.call<Json>(kind.operation, { ...kind.within?.(parent), ...input, ...extra });
  const loaded = useLoaded(async () => {
    const answer = await read({});
    setFurther([]);
    setHasMore(answer["has_more"] === true);
    return itemsOf(kind, answer);
  }, [version, parent]);
  if (loaded.state === "loading") return <p>Loading</p>;
  if (loaded.state === "failed") return <Fault error={loaded.error} />;
  const items = [...loaded.value, ...further];
  const { continues } = kind;
  const readOn = async (): Promise<void> => {
    if (continues === undefined) return;
    const answer = await read({ [continues.parameter]: items.at(-1)?.[continues.from] });
    setFurther([...further, ...itemsOf(kind, answer)]);
    setHasMore(answer["has_more"] === true);
  };
  return (
    <>
      <Table {...{ api, kind, parent, address, items, say, reload }} />
      {hasMore === true && continues !== undefined && (
        <button
          type="button"
          onClick={() => void readOn().catch((fault: unknown) => say({ error: errorOf(fault) }))}
        >
          Show more
        </button>
      )}
    </>
  );
}

/** A name that may have its line end behind an underscore. */
function wrapping(name: string): readonly ComponentChildren[] {
  return name.split(/(?<=_)/).flatMap((part, at) => (at === 0 ? [part] : [<wbr key={at} />, part]));
}

function ItemValue({ value }: { readonly value: unknown }): JSX.Element {
  return isId(value) ? <CopiedId id={value} /> : <Value value={value} />;
}

/** The items of an answer; a text is an item with that one member. */
function itemsOf({ items, id, isFirst }: ListKind, answer: Json): readonly Json[] {
  const list = answer[items];
  if (!Array.isArray(list)) return [];
  const all = list.map((item) => (typeof item === "object" ? (item as Json) : { [id]: item }));
  return isFirst === undefined ? all : all.toSorted((one, two) => +isFirst(two) - +isFirst(one));
}

interface TableProps extends Omit<ItemsProps, "input" | "version"> {
  readonly items: readonly Json[];
}

function Table({ api, kind, parent, address, items, say, reload }: TableProps): JSX.Element {
  if (items.length === 0) return <Empty title="Nothing here" />;
  // What no item has is no column.
  const columns = [...new Set(items.flatMap((item) => Object.keys(item)))].filter((name) =>
    items.some((item) => item[name] !== null && item[name] !== undefined),
  );
  const actions = kind.actions.filter(({ operation }) => api.can(operation));
  const { inner } = kind;
  const isInnerShown = inner !== undefined && api.can(inner.operation);
  return (
    <table class="folding">
      <thead>
        <tr>
          {columns.map((name) => (
            <th key={name} scope="col">
              {wrapping(name)}
            </th>
          ))}
          {(actions.length > 0 || isInnerShown) && <th scope="col">Actions</th>}
        </tr>
      </thead>
      <tbody>
        {items.map((item) => {
          const id = String(item[kind.id]);
          return (
            <tr key={id}>
              {columns.map((name) => (
                <td key={name} data-label={name}>
                  <ItemValue value={item[name]} />
                </td>
              ))}
              {(actions.length > 0 || isInnerShown) && (
                <td>
                  <div class="row">
                    {isInnerShown && <a href={`#${address}/${id}`}>{inner.title}</a>}
                    {actions
                      .filter(({ when }) => when?.(item) !== false)
                      .map(({ operation, label, done, question, input }) => (
                        <Action
                          key={operation}
                          label={label}
                          done={done}
                          say={say}
                          question={question?.(item)}
                          run={() => api.call(operation, input(item, parent)).then(reload)}
                        />
                      ))}
                  </div>
                </td>
              )}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

interface NewItemProps extends Pick<ItemsProps, "api" | "kind" | "parent" | "reload"> {
  readonly operation: string;
}

/** A form for another item. What the answer says is said once, such as the secret of a key. */
function NewItem({ api, kind, parent, reload, operation }: NewItemProps): JSX.Element {
  const found = api.operation(operation);
  const schema = found === undefined ? {} : bodySchema(api, found);
  const controls = controlsOf(api.openapi, schema);
  const [values, setValues] = useState(() => ({
    ...firstValues(api.openapi, schema),
    ...(kind.parentMember === undefined ? {} : { [kind.parentMember]: parent }),
  }));
  const [answer, setAnswer] = useState<Json | null>(null);
  return (
    <details>
      <summary>{found?.summary ?? "New"}</summary>
      <div class="stack">
        <SchemaForm
          openapi={api.openapi}
          controls={controls}
          values={values}
          setValues={setValues}
          action="Create"
          submit={async () => {
            setAnswer((await api.call(operation, objectOf(controls, values))) ?? null);
            reload();
          }}
        />
        {answer !== null && <Code label="Answer" text={JSON.stringify(answer, null, 2)} />}
      </div>
    </details>
  );
}
