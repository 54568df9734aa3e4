// One document: its members to change, what else can be done with it, and its revisions.
import { useState } from "preact/hooks";
import type { JSX } from "preact";
import {
  changesOf,
  controlsOf,
  firstValues,
  objectOf,
  valuesOf,
} from "../../openapi/form-values.js";
import { Fault, isAbsence } from "../../parts/fault.js";
import { SchemaForm, type ControlProps } from "../../parts/schema-form.js";
import type { Control } from "../../openapi/form-values.js";
import { useLoaded } from "../../shell/use-loaded.js";
import { Action } from "../action.js";
import { bodySchema, type Api, type Json } from "../api.js";
import { Facts } from "../facts.js";
import { sayNext, useNotice, type Say } from "../notice.js";
import { documentKind, titleOf, type DocumentKind } from "./document.js";
import { idsIn, Named } from "./named.js";
import { ReferenceControl } from "./reference.js";
import { readReferenceTitles } from "./reference-titles.js";
import { Revisions } from "./revisions.js";

interface PlaceProps {
  readonly api: Api;
  readonly name: string;
}

/** A form for a new document, which leads to the document. */
export function NewDocument({ api, name }: PlaceProps): JSX.Element {
  const operation = api.operation(`${name}.create`);
  const schema = operation === undefined ? {} : bodySchema(api, operation);
  const controls = controlsOf(api.openapi, schema);
  const [values, setValues] = useState(() => firstValues(api.openapi, schema));
  return (
    <div class="stack">
      <Trail name={name} title="New" />
      <SchemaForm
        openapi={api.openapi}
        controls={controls}
        values={values}
        setValues={setValues}
        action="Create"
        controlFor={referenceControls(api, documentKind(api, name))}
        submit={async () => {
          const { id } = await api.call(`${name}.create`, objectOf(controls, values));
          location.hash = `documents/${name}/${String(id)}`;
        }}
      />
    </div>
  );
}

/** A document by its id, also one that is deleted. */
export function DocumentEditor({
  api,
  name,
  id,
}: PlaceProps & { readonly id: string }): JSX.Element {
  const kind = documentKind(api, name);
  const [version, setVersion] = useState(0);
  const [notice, say] = useNotice();
  const loaded = useLoaded(async () => {
    const found = await readDocument(api, name, id);
    return { document: found, titles: await readReferenceTitles(api, kind, [found]) };
  }, [name, id, version]);
  if (loaded.state === "loading") return <p>Loading</p>;
  if (loaded.state === "failed")
    return (
      <div class="stack">
        <Trail name={name} title={id} />
        <Fault error={loaded.error} />
        {isAbsence(loaded.error) && <p>It may be of another tenant, or removed for good.</p>}
      </div>
    );
  const { document, titles } = loaded.value;
  const controls = controlsFor(api, name, document);
  const editable = new Set(controls.map((control) => control.name));
  const fixed = Object.entries(document).filter(([member]) => !editable.has(member));
  const reload = (): void => setVersion(version + 1);
  return (
    <div class="stack">
      <Trail name={name} title={titleOf(kind, document)} />
      {document["is_deleted"] === true && (
        <p>
          <span class="badge bad">deleted</span>
        </p>
      )}
      {notice}
      <div class="split">
        <div class="stack">
          <Members
            key={String(document["rev"])}
            {...{ api, name, controls, document, say, reload }}
            controlFor={referenceControls(api, kind)}
          />
          <Deeds {...{ api, name, document, say, reload }} title={titleOf(kind, document)} />
        </div>
        <div class="aside stack">
          <Facts
            members={fixed}
            factFor={(member, value) => {
              const to = kind.references[member];
              return to === undefined || idsIn(value).length === 0 ? null : (
                <Named value={value} to={to} titles={titles} />
              );
            }}
          />
          <Revisions api={api} name={name} document={document} say={say} reload={reload} />
        </div>
      </div>
    </div>
  );
}

function Trail({ name, title }: { readonly name: string; readonly title: string }): JSX.Element {
  return (
    <div>
      <a class="small" href={`#documents/${name}`}>
        {name}
      </a>
      <h1>{title}</h1>
    </div>
  );
}

/** Reads a document; a deleted one by the operation for these, where there is one. */
async function readDocument(api: Api, name: string, id: string): Promise<Json> {
  try {
    return await api.call(`${name}.get`, { id });
  } catch (error) {
    if (!api.can(`${name}.get_deleted`)) throw error;
    return api.call(`${name}.get_deleted`, { id }).catch(() => {
      throw error;
    });
  }
}

interface DocumentProps extends PlaceProps {
  readonly document: Json;
  readonly say: Say;
  readonly reload: () => void;
}

/** What can be done with a document as a whole. */
function Deeds({
  api,
  name,
  document,
  title,
  say,
  reload,
}: DocumentProps & { readonly title: string }): JSX.Element | null {
  const { id, rev, is_deleted: isDeleted } = document;
  const deed = (verb: string, label: string, done: string, question?: string) =>
    api.can(`${name}.${verb}`) && (
      <Action
        key={verb}
        label={label}
        done={done}
        say={say}
        question={question}
        run={async () => {
          await api.call(`${name}.${verb}`, { id, rev });
          if (verb !== "kill") return reload();
          sayNext({ text: `“${title}” is removed for good.` });
          location.hash = `documents/${name}`;
        }}
      />
    );
  const deeds = [
    isDeleted === true
      ? deed("restore", "Restore", "Restored, as it was when it was deleted.")
      : deed("delete", "Delete", "Deleted."),
    deed(
      "kill",
      "Remove for good",
      "Removed.",
      `Remove “${title}” for good? It can't be brought back.`,
    ),
  ].filter((one) => one !== false);
  const hasBoth = isDeleted !== true && canRestore(api, name) && api.can(`${name}.kill`);
  return deeds.length === 0 ? null : (
    <div class="stack tight">
      <p class="row apart">{deeds}</p>
      {hasBoth && (
        <p class="small quiet">What is deleted can be restored; what is removed for good can't.</p>
      )}
    </div>
  );
}

function canRestore(api: Api, name: string): boolean {
  return api.can(`${name}.delete`) && api.operation(`${name}.restore`) !== undefined;
}

/** The controls of what may be changed; none for a document that can't be. */
function controlsFor(api: Api, name: string, document: Json): readonly Control[] {
  const operation = api.can(`${name}.update`) ? api.operation(`${name}.update`) : undefined;
  const isFixed = operation === undefined || document["is_deleted"] === true;
  if (isFixed) return [];
  const schema = bodySchema(api, operation);
  // What the reader may not see of the document can't be changed either.
  const guarded = Object.keys(schema["x-visible"] ?? {});
  const isHidden = (member: string): boolean =>
    guarded.includes(member) && !Object.hasOwn(document, member);
  return controlsOf(api.openapi, schema).filter(({ name: member }) => !isHidden(member));
}

interface MembersProps extends DocumentProps {
  readonly controls: readonly Control[];
  readonly controlFor: ReturnType<typeof referenceControls>;
}

/** The members that may be changed, in a form; nothing where none may be. */
function Members({
  api,
  name,
  controls,
  document,
  say,
  reload,
  controlFor,
}: MembersProps): JSX.Element | null {
  const before = valuesOf(controls, document);
  const [values, setValues] = useState(before);
  if (controls.length === 0) return null;
  return (
    <SchemaForm
      openapi={api.openapi}
      controls={controls}
      values={values}
      setValues={setValues}
      action="Save"
      isDisabled={controls.every((control) => values[control.name] === before[control.name])}
      controlFor={controlFor}
      submit={async () => {
        const patch = changesOf(controls, before, values);
        const { id, rev } = document;
        await api.call(`${name}.update`, inputOf(api, name, { id, rev }, patch));
        say({ text: "Saved." });
        reload();
      }}
    />
  );
}

/** The input of an update: its body stands beside the others, or in a member of its own. */
function inputOf(api: Api, name: string, others: Json, patch: Json): Json {
  const entry = api.catalog.operations.find(({ key }) => key === `${name}.update`);
  const member = entry?.body_member;
  return member === undefined ? { ...others, ...patch } : { ...others, [member]: patch };
}

/** A choice for members that lead to one document; lists of ids are written as other lists. */
function referenceControls(api: Api, { references, members }: DocumentKind) {
  return ({ name }: Control, props: ControlProps): JSX.Element | null => {
    const to = references[name];
    return to === undefined || members[name]?.type === "array" ? null : (
      <ReferenceControl {...props} api={api} to={to} />
    );
  };
}
