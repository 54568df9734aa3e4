// Articles: lists, newest first; reading and writing one; who likes it.
import { randomInt } from "node:crypto";
import { collection, type ExecutionContext } from "opwright/runtime";
import { articlesSpec } from "../../generated/documents/articles.js";
import { commentsSpec } from "../../generated/documents/comments.js";
import { favoritesSpec } from "../../generated/documents/favorites.js";
import { taggingsSpec } from "../../generated/documents/taggings.js";
import { fail } from "../../generated/errors.js";
import type { ArticlesExpanded, ArticlesFilter } from "../../generated/types/articles.js";
import type * as api from "../../generated/types/api.js";
import type { Article } from "../../generated/types/models.js";
import { callersProfile, profileView } from "./users.js";

export const articles: api.ApiArticlesHandler = ({ tag, author, favorited, ...window }, context) => {
  const wanted: ArticlesFilter = {
    $values: author ? { "author.username": author } : {},
    $exists: {
      ...(tag && { "taggings.article": { $values: { tag } } }),
      ...(favorited && { "favorites.article": { $values: { "profile.username": favorited } } }),
    },
  };
  return page(wanted, window, context);
};

export const feed: api.ApiFeedHandler = async (window, context) => {
  const { id: follower } = await callersProfile(context);
  return page({ $exists: { "author.follows.followed": { $values: { follower } } } }, window, context);
};

export const article: api.ApiArticleHandler = ({ slug }, context) => answer(slug, context);

export const createArticle: api.ApiCreateArticleHandler = async ({ article: given }, context) => {
  const { tagList, ...rest } = given;
  const slug = await unusedSlug(rest.title, context);
  const { id } = await collection(articlesSpec, context).create({ ...rest, slug });
  await tag(id, tagList ?? [], context);
  return answer(slug, context);
};

export const updateArticle: api.ApiUpdateArticleHandler = async (input, context) => {
  const { id, title } = await ownArticle(input.slug, context);
  const { tagList, ...patch } = input.article;
  const { title: next = title } = patch;
  const slug = next === title ? input.slug : await unusedSlug(next, context);
  await collection(articlesSpec, context).update(id, "any", { ...patch, slug });
  if (tagList !== undefined) await tag(id, tagList, context);
  return answer(slug, context);
};

export const deleteArticle: api.ApiDeleteArticleHandler = async ({ slug }, context) => {
  const { id } = await ownArticle(slug, context);
  const filters = { $values: { article: id } };
  const [likes, said] = [collection(favoritesSpec, context), collection(commentsSpec, context)];
  await likes.deleteMany(await likes.find({ filters })); // a cascade takes no more than 1,000 along
  await said.deleteMany(await said.find({ filters }));
  await collection(articlesSpec, context).kill(id);
};

export const favorite: api.ApiFavoriteHandler = async ({ slug }, context) => {
  const { id: article } = await articleOf(slug, context);
  await collection(favoritesSpec, context).upsert(["profile", "article"], { article });
  return answer(slug, context);
};

export const unfavorite: api.ApiUnfavoriteHandler = async ({ slug }, context) => {
  const favorites = collection(favoritesSpec, context);
  const filters = { $values: { "article.slug": slug } };
  await favorites.deleteMany(await favorites.find({ filters, own: true }));
  return answer(slug, context);
};

/** The tags of the most articles. */
export const tags: api.ApiTagsHandler = async (_input, context) => {
  const aggregates = { $groups: { tag: "tag" }, $computed: { uses: { $count: {} } } };
  const query = { aggregates, sorts: { uses: "desc", tag: "asc" }, size: 100 };
  const { hits } = await collection(taggingsSpec, context).aggregate(query);
  return { tags: hits.map((hit) => String(hit["tag"])) };
};

/** The article of a slug, with its author. */
export async function articleOf(slug: string, context: ExecutionContext): Promise<ArticlesExpanded> {
  const query = { filters: { $values: { slug } }, expand: ["author"] };
  const found = await collection(articlesSpec, context).first(query);
  if (found === null) throw fail("unknown", { what: "article" });
  return found;
}

async function ownArticle(slug: string, context: ExecutionContext): Promise<ArticlesExpanded> {
  const found = await articleOf(slug, context);
  const { id } = await callersProfile(context);
  if (found.author !== id) throw fail("forbidden", { what: "article" });
  return found;
}

async function tag(article: string, given: readonly string[], context: ExecutionContext) {
  const taggings = collection(taggingsSpec, context);
  await taggings.deleteMany(await taggings.find({ filters: { $values: { article } } }));
  await taggings.createMany([...new Set(given)].map((tag, position) => ({ article, tag, position })));
}

/** A slug of a title. Where another article has it, a number tells them apart. */
async function unusedSlug(title: string, context: ExecutionContext): Promise<string> {
  const words = title.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const slug = [...words.join("-")].slice(0, 100).join(""); // longer paths find no operation
  const isTaken = await collection(articlesSpec, context).exists({ filters: { $values: { slug } } });
  return isTaken || ["", "feed"].includes(slug) ? `${slug}-${randomInt(2 ** 32)}` : slug;
}

async function answer(slug: string, context: ExecutionContext) {
  const found = await articleOf(slug, context);
  return { article: (await view([found], context))(found) };
}

type Window = Pick<api.ApiFeedFilledInput, "limit" | "offset">;

async function page(filters: ArticlesFilter, window: Window, context: ExecutionContext) {
  const all = collection(articlesSpec, context);
  const sorts = { created_at: "desc", id: "desc" } as const;
  const { limit: size, offset } = window;
  const found = await all.find({ filters, sorts, size, offset, expand: ["author"] });
  const articlesCount = await all.count({ filters });
  return { articles: found.map(await view(found, context)), articlesCount };
}

/** Shows these articles, by as many statements as one takes. */
async function view(shown: readonly ArticlesExpanded[], context: ExecutionContext) {
  const filters = { $values: { article: shown.map(({ id }) => id) } };
  const favorites = collection(favoritesSpec, context);
  const liked = await favorites.find({ filters, own: true });
  const aggregates = { $groups: { article: "article" }, $computed: { count: { $count: {} } } };
  const { hits: likes } = await favorites.aggregate({ filters, aggregates, size: 100 });
  const sorts = { position: "asc" } as const;
  const taggings = await collection(taggingsSpec, context).find({ filters, sorts });
  const author = await profileView(shown.map((one) => one.author), context);
  return (one: ArticlesExpanded): Article => ({
    ...one,
    tagList: taggings.filter(({ article }) => article === one.id).map(({ tag }) => tag),
    createdAt: one.created_at,
    updatedAt: one.last_update_at,
    favorited: liked.some(({ article }) => article === one.id),
    favoritesCount: Number(likes.find(({ article }) => article === one.id)?.["count"] ?? 0),
    author: author(one.expanded?.author),
  });
}
