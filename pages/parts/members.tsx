// The members of a schema, each with its type, its bounds and what it is for.
import { useState } from "preact/hooks";
import type { JSX } from "preact";
import { referredName, resolveReference, type OpenApi, type Schema } from "../openapi/document.js";
import { boundTexts, innerSchema, typeText } from "../openapi/type-text.js";

interface MembersProps {
  readonly openapi: OpenApi;
  readonly schema: Schema | boolean | undefined;
  /** Names of the schemas around it, so that one that contains itself comes to an end. */
  readonly within?: readonly string[];
}

/** The members of an object as a list; of anything else, its type. */
export function Members({ openapi, schema, within = [] }: MembersProps): JSX.Element {
  const inner = innerSchema(openapi, schema);
  if (inner === null)
    return (
      <p>
        <code>{typeText(openapi, schema)}</code>
      </p>
    );
  const members = Object.entries(inner.properties ?? {});
  return (
    <ul class="members">
      {members.map(([name, member]) => (
        <Member
          key={name}
          openapi={openapi}
          name={name}
          schema={member}
          isRequired={(inner.required ?? []).includes(name)}
          within={within}
        />
      ))}
    </ul>
  );
}

interface MemberProps {
  readonly openapi: OpenApi;
  readonly name: string;
  readonly schema: Schema | boolean;
  readonly isRequired: boolean;
  readonly within: readonly string[];
}

function Member({ openapi, name, schema, isRequired, within }: MemberProps): JSX.Element {
  // A query's schemas refer to each other so much that all of them would be thousands of lines.
  const [isOpen, setIsOpen] = useState(false);
  const own = typeof schema === "object" ? resolveReference<Schema>(openapi, schema) : {};
  const inner = innerSchema(openapi, schema);
  const typeName = referredName(schema) ?? name;
  const hasMore = inner !== null && !within.includes(typeName) && within.length < 6;
  return (
    <li>
      <div class="row">
        <code>
          <strong>{name}</strong>
        </code>
        <code class="quiet">{typeText(openapi, schema)}</code>
        {isRequired && <span class="badge strong">required</span>}
        {"default" in own && <span class="badge">{`default ${JSON.stringify(own.default)}`}</span>}
        {boundTexts(own).map((text) => (
          <span key={text} class="badge">
            {text}
          </span>
        ))}
      </div>
      {own.description !== undefined && <p class="small quiet">{own.description}</p>}
      {hasMore && (
        <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
          <summary class="small">Members</summary>
          {isOpen && <Members openapi={openapi} schema={schema} within={[...within, typeName]} />}
        </details>
      )}
    </li>
  );
}
