// Where comments and pages refer to documents: found in texts, and held against the headings and numbers of the pages.
import { dirname, join } from "node:path/posix";

export interface Source {
  /** Relative to the repository, with slashes. */
  readonly path: string;
  readonly text: string;
}

export interface Reference {
  readonly path: string;
  readonly line: number;
  /** The page, relative to the repository. */
  readonly page: string;
  /** A heading, as it is written or as a fragment of a link. */
  readonly heading?: string;
  /** A rule of a numbered list below the heading, a section "§3" of the page, or an attack. */
  readonly number?: number;
}

interface Block {
  readonly line: number;
  readonly text: string;
}

const designPages = "architecture|attacks|decisions|registry|service";
const markers: Readonly<Record<string, RegExp>> = {
  sh: /^\s*#\s?/,
  yaml: /^\s*#\s?/,
  yml: /^\s*#\s?/,
};
const codeMarker = /^\s*(?:\/\/|\/\*\*?|\*\/?)\s?/;

/** Comments of a file, neighbouring lines as one; a page of Markdown is one comment a line. */
export function commentsOf({ path, text }: Source): readonly Block[] {
  const lines = text.split("\n");
  if (path.endsWith(".md")) return lines.map((line, at) => ({ line: at + 1, text: line }));
  const marker = markers[path.slice(path.lastIndexOf(".") + 1)] ?? codeMarker;
  const blocks: Block[] = [];
  let open = false;
  for (const [at, line] of lines.entries()) {
    const own = marker.test(line);
    const words = own ? line.replace(marker, "") : /\s(?:\/\/|#) (.*)$/.exec(line)?.[1];
    const last = blocks.at(-1);
    if (words !== undefined && own && open && last !== undefined)
      blocks[blocks.length - 1] = { line: last.line, text: `${last.text} ${words}` };
    else if (words !== undefined) blocks.push({ line: at + 1, text: words });
    open = own;
  }
  return blocks;
}

/** `"Engines"`, `"Storage routes", "Download behaviour" 12`, `§4 "Readiness"`, `, rule 3`: what follows the name of a page. */
function placesOf(words: string): readonly Pick<Reference, "heading" | "number">[] {
  const section = /^ §(\d+)/.exec(words);
  let rest = words.slice(section?.[0].length ?? 0);
  const places: Pick<Reference, "heading" | "number">[] =
    section === null ? [] : [{ number: Number(section[1]) }];
  for (;;) {
    const [all, heading, number] =
      /^(?:,? (?:and )?"([^"]+)")?(?:(?:, rule|, idea)? (\d+)\b(?! ?[a-z%]))?/.exec(rest) ?? [""];
    if (all === "") return places.length === 0 ? [{}] : places;
    places.push({
      ...(heading === undefined ? {} : { heading }),
      ...(number === undefined ? {} : { number: Number(number) }),
    });
    rest = rest.slice(all.length);
  }
}

/** `1–17, 20 and 24` or `65 to 72`. */
function numbersOf(list: string): readonly number[] {
  return [...list.matchAll(/(\d+)(?:(?:–| to )(\d+))?/g)].flatMap(([, first, last]) => {
    const from = Number(first);
    return Array.from({ length: Number(last ?? from) - from + 1 }, (_, at) => from + at);
  });
}

/** Every reference of a file: pages by name, attacks by number, links with a fragment. */
export function referencesOf(source: Source): readonly Reference[] {
  const { path } = source;
  return commentsOf(source).flatMap(({ line, text }) => {
    const pages = [...text.matchAll(new RegExp(`(?<![\\w./-])(?:${designPages})\\.md`, "gi"))];
    const named = path.endsWith(".md") ? [] : pages;
    const attacks = [...text.matchAll(/\battacks? (\d+(?:(?:, | and | or |–| to )\d+)*)/gi)];
    const manuals = [...text.matchAll(/(?<![\w/.])(docs\/[\w/-]+\.md)((?: "[^"]+")?)/g)];
    const links = [...text.matchAll(/\]\(([^)#:\s]*)#([^)]+)\)/g)];
    return [
      ...named.flatMap((found) =>
        placesOf(text.slice(found.index + found[0].length)).map((place) => ({
          page: `docs/design/${found[0].toLowerCase()}`,
          ...place,
        })),
      ),
      ...attacks.flatMap(([, list = ""]) =>
        numbersOf(list).map((number) => ({ page: "docs/design/attacks.md", number })),
      ),
      ...manuals.map(([, page = "", quoted = ""]) =>
        quoted === "" ? { page } : { page, heading: quoted.slice(2, -1) },
      ),
      ...(path.endsWith(".md") ? links : []).map(([, page = "", heading = ""]) => ({
        page: page === "" ? path : join(dirname(path), page),
        heading,
      })),
    ].map((reference) => ({ path, line, ...reference }));
  });
}

interface Heading {
  readonly title: string;
  readonly depth: number;
  /** Items of the numbered list that follow it, up to the next heading of any depth. */
  readonly items: ReadonlySet<number>;
}

function headingsOf(page: string): readonly Heading[] {
  const prose = page.replaceAll(/^```[^]*?^```$/gm, "");
  return prose
    .split(/^(?=#)/m)
    .map((part) => /^(#+) (.*)\n?([^]*)/.exec(part))
    .filter((found) => found !== null)
    .map(([, marks = "", title = "", body = ""]) => ({
      title,
      depth: marks.length,
      items: new Set([...body.matchAll(/^(\d+)\. /gm)].map(([, item]) => Number(item))),
    }));
}

/** The fragment that GitHub gives a heading. */
const fragmentOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

/** Whether a page has what is referred to: the heading, its numbered rule, `## 3. …`, or a table's row `| 84 |`. */
function leadsTo(page: string, { heading, number }: Reference): boolean {
  const headings = headingsOf(page);
  const rows = new Set([...page.matchAll(/^\| (\d+) \|/gm)].map(([, row]) => Number(row)));
  if (heading === undefined)
    return (
      number === undefined ||
      rows.has(number) ||
      headings.some(
        ({ title, depth, items }) =>
          title.startsWith(`${String(number)}. `) || (depth === 1 && items.has(number)),
      )
    );
  const found = headings.find(({ title }) =>
    [title, title.replace(/^\d+\. /, "")].some(
      (name) => name.toLowerCase() === heading.toLowerCase() || fragmentOf(name) === heading,
    ),
  );
  return found !== undefined && (number === undefined || found.items.has(number));
}

const shown = ({ path, line, page, heading, number }: Reference): string =>
  `${path}:${String(line)} → ${page}${heading === undefined ? "" : ` "${heading}"`}${number === undefined ? "" : ` ${String(number)}`}`;

/** The references of some files that lead nowhere, as `file:line → page "heading" number`. */
export function broken(
  sources: readonly Source[],
  pages: ReadonlyMap<string, string>,
): readonly string[] {
  return sources
    .flatMap(referencesOf)
    .filter((reference) => {
      const page = pages.get(reference.page);
      return page === undefined || !leadsTo(page, reference);
    })
    .map(shown);
}
