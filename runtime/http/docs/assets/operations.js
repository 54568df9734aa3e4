// /docs/operations: the catalog, to be searched.
import { element, request, session } from "./session.js";

await session();
const { operations, error_groups: groups } = await request("GET", "/docs/catalog.json");
const search = element("input", {
  id: "search",
  type: "search",
  placeholder: "a name, a path, a guard",
  autofocus: true,
});
const count = element("p", { id: "count" });
const body = element("tbody");
const head = ["operation", "route", "what it does", "guard", "deadline", "from"].map((name) =>
  element("th", { textContent: name }),
);
document
  .getElementById("main")
  .append(
    search,
    count,
    element("table", {}, element("thead", {}, element("tr", {}, ...head)), body),
  );

function row({
  key,
  method,
  path,
  summary,
  guard,
  hooks,
  deadline_seconds: deadline,
  idempotency_key: keyed,
  error_groups: inGroups,
  errors: own,
  source,
}) {
  const errors = [...new Set([...inGroups.flatMap((name) => groups[name]), ...own])];
  const more = element(
    "details",
    {},
    element("summary", { textContent: summary }),
    element(
      "div",
      {},
      "hooks: ",
      element("code", {
        textContent: hooks.map((hook) => `${hook.phase} ${hook.id}`).join(", ") || "none",
      }),
    ),
    element("div", {}, "errors: ", element("code", { textContent: errors.join(", ") })),
    ...(keyed ? [element("div", { textContent: "takes an Idempotency-Key" })] : []),
  );
  const cells = [
    element("code", { textContent: key }),
    element("code", { textContent: method === null ? "not attached" : `${method} ${path}` }),
    more,
    guard,
    deadline === null ? "" : `${deadline} s`,
    element("code", { textContent: source }),
  ];
  return element("tr", {}, ...cells.map((cell) => element("td", {}, cell)));
}

function show() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = operations.filter(({ key, path, summary, guard }) => {
    const text = `${key} ${path} ${summary} ${guard}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  count.textContent = `${found.length} of ${operations.length} operations`;
  body.replaceChildren(...found.map(row));
}
search.addEventListener("input", show);
show();
