// A registry of a given size, as a large team would have it: documents of seven fields and custom operations.

/** Operations of a document with soft deletion. */
export const perDocument = 11;

/** The usual share of operations that come from documents. */
export const usualShare = 0.6;

/**
 * Files by path of a registry with `count` operations: six of ten come from documents (eleven operations each), four of
 * ten are custom, with handlers in one file a namespace. `share` is another share than six of ten.
 */
export function registryOf(count, share = usualShare) {
  const files = {
    "registry/service.yaml": `registry: 1
service: {name: large, title: Large API, version: 1.0.0}
policies: {open: [{rate_limit: 600/1m}]}
`,
  };
  const documents = Math.round((count * share) / perDocument);
  for (let index = 0; index < documents; index += 1) {
    const name = `item${String(index).padStart(3, "0")}`;
    files[`registry/${name}.yaml`] = `registry: 1
types:
  Item${String(index).padStart(3, "0")}:
    title: {type: string, minLength: 1, maxLength: ${100 + index}}
    state: [open, doing, done]
    owner: uuid
    reviewer: uuid?
    due: date-time?
    size: {type: number, minimum: 0}
    labels: string[]
documents:
  ${name}:
    type: Item${String(index).padStart(3, "0")}
    defaults: {state: open, labels: []}
    indexes: [[owner, state], [due]]
    soft_delete: true
    guard: open
    deadline: 5s
`;
  }
  const custom = count - documents * perDocument;
  const perNamespace = 10;
  for (let start = 0; start < custom; start += perNamespace) {
    const name = `job${String(start / perNamespace).padStart(3, "0")}`;
    const numbers = Array.from(
      { length: Math.min(perNamespace, custom - start) },
      (_, offset) => start + offset,
    );
    files[`registry/${name}.yaml`] =
      `registry: 1\noperations:\n${numbers.map((number) => customOperation(name, number)).join("")}`;
    files[`registry/handlers/${name}.ts`] = numbers
      .map(
        (number) =>
          `export const run${number} = ({ count }: { readonly count: number }) => ({ done: true, left: count });\n`,
      )
      .join("");
  }
  return files;
}

function customOperation(name, number) {
  return `  ${name}.run${number}:
    post: /${name}/{id}/run${number}
    in: {id: uuid, rev: integer, note: "string?", count: {type: integer, minimum: 0, maximum: ${1_000 + number}}, tags: "string[]"}
    out: {done: boolean, left: integer}
    run: registry/handlers/${name}.ts#run${number}
    guard: open
    deadline: 10s
`;
}
