// The corpus of first mistakes: what somebody wrote, and what is meant if that can only be one thing.
import { readFileSync } from "node:fs";

/** A registry file with one mistake, or a few that come together. */
export interface Mistake {
  readonly title: string;
  readonly text: string;
  /** What is meant; null where there is no one right answer. */
  readonly meant: string | null;
}

const folder = new URL("mistakes/", import.meta.url);

/** All mistakes, in order. */
export function readMistakes(): readonly Mistake[] {
  return [...ofLines(), ...ofBlocks()];
}

function ofLines(): readonly Mistake[] {
  let template = "";
  return readFileSync(new URL("lines.txt", folder), "utf8")
    .split("\n")
    .slice(2)
    .flatMap((line) => {
      if (line.startsWith("= ")) template = line.slice(2);
      if (line === "" || line.startsWith("= ")) return [];
      const hasNone = line.startsWith("no ");
      const mistake = hasNone ? line.slice(3) : line;
      // A whole file in brackets would not say its version like others.
      const whole = template.replace("…", () => mistake).replace(/^\{(.*)\}$/, "$1");
      const sections = template.startsWith("{") ? apart(whole) : whole;
      return [mistakeOf(mistake, `${sections}\n`, hasNone)];
    });
}

/** Sections between brackets, each on a line of its own. */
function apart(text: string): string {
  let depth = 0;
  return [...text]
    .map((character) => {
      if ("{[".includes(character)) depth += 1;
      if ("}]".includes(character)) depth -= 1;
      return character === "," && depth === 0 ? "\n" : character;
    })
    .join("")
    .replaceAll("\n ", "\n");
}

function ofBlocks(): readonly Mistake[] {
  const text = readFileSync(new URL("blocks.md", folder), "utf8");
  return [...text.matchAll(/^## (.+)\n```\n([^]*?)^```$/gm)].map(([, title = "", block = ""]) =>
    mistakeOf(title, block, !block.includes("⟪")),
  );
}

const mark = /⟪([^→⟫]*)→([^⟫]*)⟫/g;

function mistakeOf(title: string, marked: string, hasNone: boolean): Mistake {
  const needsVersion = !/^registry: |→registry(?:: 1|⟫: 1)/m.test(marked);
  const whole = needsVersion ? `registry: 1\n${marked}` : marked;
  const text = whole.replaceAll(mark, "$1");
  return {
    title: title.replaceAll(mark, "$1"),
    text,
    meant: hasNone ? null : whole.replaceAll(mark, "$2"),
  };
}
