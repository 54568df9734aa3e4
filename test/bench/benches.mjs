// Every bench by its name: a module that exports `run`.
export const benches = [
  "client",
  "data",
  "generate",
  "http",
  "identity",
  "jobs",
  "loop",
  "neighbours",
  "query",
  "realtime",
  "search",
  "objects",
  "pages",
  "shapes",
  "start",
  "storage",
];
