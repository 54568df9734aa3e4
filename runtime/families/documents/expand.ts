// Documents along with those that they name: one statement a level, however many hits. Null stands
// for one that is not there or not visible; lists leave it out.
import { fail } from "../../contract/errors.js";
import { limits } from "../../contract/limits.js";
import type { ExecutionContext } from "../../operations/context.js";
import { seenAs, type AnyDocumentSpec, type DocumentSpec } from "../../ports/document-spec.js";
import { documentStore, type StoredDocument } from "../../ports/documents.js";
import type { Filter } from "../../query/ast.js";
import { isPlain, type Expansion } from "../../query/parse-expand.js";
import { namesIn } from "./names.js";
import type { Sight } from "./reach.js";
import { documentText, withoutHidden } from "./render.js";
import { showDocuments, type SeenDocument } from "./visible.js";

/** A member to follow, and the rows that have it. */
interface Branch {
  readonly member: string;
  readonly target: DocumentSpec;
  readonly from: readonly SeenDocument[];
  readonly along: Expansion;
}

/**
 * The JSON texts of rows as the caller sees them, in their order, with what they name: as the
 * member `expanded`, in which null stands for what is not there or not visible. Throws what `sight`
 * does, and `query_too_complex` if it would be more than a page may be.
 */
export async function expandedTexts(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  rows: readonly StoredDocument[],
  expansion: Expansion,
  sight: Sight,
): Promise<readonly string[]> {
  const shown = await showDocuments(spec, context, rows);
  if (isPlain(expansion)) return shown.map((one) => documentText(spec, one));
  const named = await Named.read(spec, context, shown, expansion, sight);
  const isShown = new Set(shown);
  let bytes = 0;
  const text = (of: AnyDocumentSpec, row: SeenDocument, along: Expansion): string => {
    const own = documentText(of, row);
    // The rows themselves are a page, which is bounded already; many may name the same.
    if (!isShown.has(row)) bytes += own.length;
    if (bytes > limits.maxPageBytes) throw tooLarge();
    if (isPlain(along)) return own;
    const members = Object.entries(along).map(([member, further]) => {
      const target = targetOf(of, member);
      const others = named.of(target, row, member).map((other) => text(target, other, further));
      const value =
        of.fields[member]?.endsWith("[]") === true
          ? `[${others.join(",")}]`
          : (others[0] ?? "null");
      return `${JSON.stringify(member)}:${value}`;
    });
    return `${own.slice(0, -1)},"expanded":{${members.join(",")}}}`;
  };
  return shown.map((one) => {
    const whole = text(spec, one, expansion);
    context.answer.grow(bytes);
    return whole;
  });
}

/** Rows that were read, by type and id. */
class Named {
  readonly #rows = new Map<string, Map<string, SeenDocument>>();
  readonly #visible = new Map<string, Filter>();
  readonly #bodies = new WeakMap<SeenDocument, Readonly<Record<string, unknown>>>();
  #bytes = 0;

  static async read(
    spec: AnyDocumentSpec,
    context: ExecutionContext,
    rows: readonly SeenDocument[],
    expansion: Expansion,
    sight: Sight,
  ): Promise<Named> {
    const named = new Named();
    let level = branches(spec, rows, expansion);
    while (level.length > 0) {
      await named.#readLevel(level, context, sight);
      level = level.flatMap(({ member, target, from, along }) =>
        branches(
          target,
          from.flatMap((row) => named.of(target, row, member)),
          along,
        ),
      );
    }
    return named;
  }

  /** The targets of a row's member, as far as they are visible, in its order. */
  of(spec: AnyDocumentSpec, row: SeenDocument, member: string): readonly SeenDocument[] {
    const known = this.#rows.get(seenAs(spec));
    return namesIn(this.#value(row, member)).flatMap((id) => known?.get(id) ?? []);
  }

  async #readLevel(
    level: readonly Branch[],
    context: ExecutionContext,
    sight: Sight,
  ): Promise<void> {
    const wanted = new Map<string, { readonly spec: AnyDocumentSpec; ids: Set<string> }>();
    for (const { member, target, from } of level) {
      // Callers who may see none of them are refused, whether there are any or not.
      const name = seenAs(target);
      if (!this.#visible.has(name)) this.#visible.set(name, await sight(target, context));
      const known = this.#rows.get(name);
      const asked = wanted.get(name) ?? { spec: target, ids: new Set() };
      wanted.set(name, asked);
      for (const row of from)
        for (const id of namesIn(this.#value(row, member)))
          if (known?.has(id) !== true) asked.ids.add(id);
    }
    const asked = [...wanted.values()]
      .filter(({ ids }) => ids.size > 0)
      .map(({ spec, ids }) => {
        const name = seenAs(spec);
        const filter = this.#visible.get(name);
        if (filter === undefined) throw new TypeError(`nobody has said who sees ${name}`);
        return { spec, name, ids: [...ids], filter };
      });
    const documents = context.transaction.of(documentStore);
    const found = await documents.named(asked, context.tenant, limits.maxPageBytes);
    for (const [at, rows] of found.entries()) {
      const one = asked[at];
      if (one === undefined) continue;
      const known = this.#rows.get(one.name) ?? new Map<string, SeenDocument>();
      this.#rows.set(one.name, known);
      for (const seen of await showDocuments(one.spec, context, rows)) {
        this.#bytes += seen.row.body.length;
        known.set(seen.row.id, seen);
      }
    }
    if (this.#bytes > limits.maxPageBytes) throw tooLarge();
    context.answer.grow(this.#bytes);
  }

  #value(seen: SeenDocument, member: string): unknown {
    const body =
      this.#bodies.get(seen) ?? withoutHidden(JSON.parse(seen.row.body) as object, seen.hidden);
    this.#bodies.set(seen, body);
    return body[member];
  }
}

function branches(
  spec: AnyDocumentSpec,
  from: readonly SeenDocument[],
  expansion: Expansion,
): readonly Branch[] {
  return Object.entries(expansion).map(([member, along]) => ({
    member,
    target: targetOf(spec, member),
    from,
    along,
  }));
}

function targetOf({ name, references = {} }: AnyDocumentSpec, member: string) {
  const target = Object.hasOwn(references, member) ? references[member]?.() : undefined;
  if (target === undefined) throw new TypeError(`${name}.${member} names nothing`);
  return target;
}

function tooLarge(): Error {
  return fail("query_too_complex", { path: "/expand", max_bytes: limits.maxPageBytes });
}
