// The document operations that generated routes name: `documents.create(tasks)` and so on
// (service.md "Document routes").
import type { ExpectedRevision, ParsedBody } from "../../operations/input.js";
import { parseWith } from "../../operations/input.js";
import { JsonText } from "../../operations/json-text.js";
import type { Handler } from "../../operations/operation.js";
import {
  parseCursorRequest,
  parsePageRequest,
  type CursorRequest,
  type ListRules,
  type PageRequest,
} from "../../query/list-request.js";
import { listByCursor, listPage } from "./list.js";
import type { CursorPage, Page } from "./pages.js";
import { renderDocument, renderUpdated, type Updated } from "./render.js";
import { readDocument } from "./scoped.js";
import type { DocumentSpec } from "../../ports/document-spec.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { StoredDocument } from "../../ports/documents.js";
import { parseExpand } from "../../query/parse-expand.js";
import { expandedTexts } from "./expand.js";
import { callerSight } from "./reach.js";
import { createDocument, killDocument, markDocument, patchDocument } from "./write.js";

interface Identified {
  readonly id: string;
}

interface Asked extends Identified {
  /** Members whose documents come along. */
  readonly expand?: readonly string[];
}

interface AtRevision extends Identified {
  readonly rev: ExpectedRevision;
}

/** Handlers of the document family. Each takes a spec and returns the handler of one operation. */
export const documents = {
  create:
    <Document, Create>(
      spec: DocumentSpec<{ document: Document; create: Create }>,
    ): Handler<Create, Document> =>
    async (payload, context) =>
      renderDocument(
        spec,
        context,
        await createDocument(spec, context, payload as Readonly<Record<string, unknown>>),
      ),

  get:
    <Document, Expanded = Document>(
      spec: DocumentSpec<{ document: Document; expanded: Expanded }>,
    ): Handler<Asked, Expanded> =>
    async ({ id, expand }, context) => {
      const stored = await readDocument(spec, context, id);
      return expand === undefined
        ? renderDocument(spec, context, stored)
        : renderExpanded(spec, context, stored, expand);
    },

  update:
    <Document, Patch>(
      spec: DocumentSpec<{ document: Document; patch: Patch }>,
    ): Handler<AtRevision & { readonly patch: Patch }, Updated<Document, Patch>> =>
    async ({ id, rev, patch }, context) => {
      const change = patch as Readonly<Record<string, unknown>>;
      const { stored, diff } = await patchDocument(
        spec,
        context,
        id,
        rev,
        change,
        context.preconditions,
      );
      return renderUpdated(spec, context, stored, diff);
    },

  kill:
    <Document>(
      spec: DocumentSpec<{ document: Document }>,
    ): Handler<Identified & { readonly rev?: ExpectedRevision }, undefined> =>
    async ({ id, rev }, context) => {
      await killDocument(spec, context, id, rev, context.preconditions);
      return undefined;
    },

  delete:
    <Document>(spec: DocumentSpec<{ document: Document }>): Handler<AtRevision, Document> =>
    async ({ id, rev }, context) =>
      renderDocument(
        spec,
        context,
        await markDocument(spec, context, id, rev, true, context.preconditions),
      ),

  restore:
    <Document>(spec: DocumentSpec<{ document: Document }>): Handler<AtRevision, Document> =>
    async ({ id, rev }, context) =>
      renderDocument(
        spec,
        context,
        await markDocument(spec, context, id, rev, false, context.preconditions),
      ),

  list:
    <Document, Expanded = Document>(
      spec: DocumentSpec<{ document: Document; expanded: Expanded }>,
    ): Handler<PageRequest, Page<Expanded>> =>
    (request, context) =>
      listPage(spec, context, request, callerSight),

  rawList:
    <Document>(
      spec: DocumentSpec<{ document: Document }>,
    ): Handler<PageRequest, Page<Partial<Document>>> =>
    (request, context) =>
      listPage(spec, context, request, callerSight),

  listCursor:
    <Document, Expanded = Document>(
      spec: DocumentSpec<{ document: Document; expanded: Expanded }>,
    ): Handler<CursorRequest, CursorPage<Expanded>> =>
    (request, context) =>
      listByCursor(spec, context, request, callerSight),

  rawListCursor:
    <Document>(
      spec: DocumentSpec<{ document: Document }>,
    ): Handler<CursorRequest, CursorPage<Partial<Document>>> =>
    (request, context) =>
      listByCursor(spec, context, request, callerSight),
};

/** A document with its expansions. It has no entity tag: that would be of the document alone. */
async function renderExpanded<Expanded>(
  spec: DocumentSpec,
  context: ExecutionContext,
  stored: StoredDocument,
  expand: readonly string[],
): Promise<JsonText<Expanded>> {
  const expansion = parseExpand(expand, spec.fieldSet, "/expand");
  const [text = ""] = await expandedTexts(spec, context, [stored], expansion, callerSight);
  return new JsonText(text);
}

/** Bindings of list bodies, whose errors name the faulty part of the query. */
export const listing = {
  page: (spec: DocumentSpec): ParsedBody<PageRequest> =>
    parseWith((body) => parsePageRequest(body, rules(spec, false))),
  rawPage: (spec: DocumentSpec): ParsedBody<PageRequest> =>
    parseWith((body) => parsePageRequest(body, rules(spec, true))),
  cursor: (spec: DocumentSpec): ParsedBody<CursorRequest> =>
    parseWith((body) => parseCursorRequest(body, rules(spec, false))),
  rawCursor: (spec: DocumentSpec): ParsedBody<CursorRequest> =>
    parseWith((body) => parseCursorRequest(body, rules(spec, true))),
};

function rules(spec: DocumentSpec, isRaw: boolean): ListRules {
  return { fields: spec.fieldSet, mayListDeleted: spec.listDeleted, isRaw };
}
