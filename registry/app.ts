// The author's own app, behind the generated routes. Express is loaded with the first request that none of them answers.
import type { AppHandler } from "opwright/runtime";

export const app: AppHandler = async (req, res, next) => {
  const { pages } = await import("./pages.js");
  pages(req, res, next);
};
