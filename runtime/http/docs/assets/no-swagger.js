// /docs without Swagger UI: how to get it.
import { element } from "./session.js";

document
  .getElementById("main")
  .append(
    element("p", { textContent: "Swagger UI is not installed. Run:" }),
    element("pre", { textContent: "npm install --save-dev swagger-ui-dist" }),
    element(
      "p",
      {},
      "The document is at ",
      element("a", { href: "/openapi.json", textContent: "/openapi.json" }),
      ".",
    ),
  );
