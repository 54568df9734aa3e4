// Comments of articles, newest first. RealWorld knows no pages of them: who reads gets the newest 200.
import { randomInt } from "node:crypto";
import { collection, type ExecutionContext } from "opwright/runtime";
import { commentsSpec } from "../../generated/documents/comments.js";
import { fail } from "../../generated/errors.js";
import type * as api from "../../generated/types/api.js";
import type { CommentsExpanded } from "../../generated/types/comments.js";
import type { Comment } from "../../generated/types/models.js";
import { articleOf } from "./articles.js";
import { callersProfile, profileView } from "./users.js";

export const comments: api.ApiCommentsHandler = async ({ slug }, context) => {
  const { id: article } = await articleOf(slug, context);
  const sorts = { created_at: "desc", id: "desc" } as const;
  const query = { filters: { $values: { article } }, sorts, size: 200, expand: ["author"] };
  const found = await collection(commentsSpec, context).find(query);
  return { comments: found.map(await view(found, context)) };
};

export const addComment: api.ApiAddCommentHandler = async ({ slug, comment: given }, context) => {
  const { id: article } = await articleOf(slug, context);
  const number = randomInt(2 ** 47); // an id that is a number, without a counter that writers wait for
  const all = collection(commentsSpec, context);
  const { id } = await all.create({ ...given, number, article });
  const created = await all.get(id, { expand: ["author"] });
  return { comment: (await view([created], context))(created) };
};

export const deleteComment: api.ApiDeleteCommentHandler = async ({ slug, id: number }, context) => {
  const { id: article } = await articleOf(slug, context);
  const all = collection(commentsSpec, context);
  const found = await all.first({ filters: { $values: { article, number } } });
  if (found === null) throw fail("unknown", { what: "comment" });
  const { id: caller } = await callersProfile(context);
  if (found.author !== caller) throw fail("forbidden", { what: "comment" });
  await all.kill(found.id);
};

async function view(shown: readonly CommentsExpanded[], context: ExecutionContext) {
  const author = await profileView(shown.map((one) => one.author), context);
  return (one: CommentsExpanded): Comment => ({
    id: one.number,
    createdAt: one.created_at,
    updatedAt: one.last_update_at,
    body: one.body,
    author: author(one.expanded?.author),
  });
}
