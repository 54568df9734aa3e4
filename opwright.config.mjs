// How opwright prints the reference service: with everything that a client can have.
export default {
  client: { package: "@opwright/tracker-client", queries: true, mocks: true },
  build: { entry: "dist/service/generated/server.js" },
  dev: { build: "npm run build:service" },
};
