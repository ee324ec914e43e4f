import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../../..');

/** The Markdown pages of the repository, relative to its root. */
export function listPages(): string[] {
  const entries = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' });
  const pages = entries.filter((name) => name.endsWith('.md')).map((name) => join('docs', name));
  const top = readdirSync(root).filter((name) => name.endsWith('.md'));
  return [...top, ...pages].sort();
}

export interface CodeBlock {
  page: string;
  /** The line of the fence, counted from 1. */
  line: number;
  /** The info string of the fence. */
  language: string;
  text: string;
  /** The text of `<!-- not run: reason -->` before the block. */
  notRunReason: string | undefined;
}

/** The fenced code blocks of a page, in order. @throws {Error} if a block does not end. */
export function readCodeBlocks(page: string): CodeBlock[] {
  const lines = readFileSync(join(root, page), 'utf8').split('\n');
  const blocks: CodeBlock[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const [, language] = /^```(.*)$/.exec(lines[index] ?? '') ?? [];
    if (language === undefined) continue;
    const end = lines.indexOf('```', index + 1);
    if (end < 0) throw new Error(`${page}:${index + 1}: the code block does not end`);
    const [, notRunReason] = /^<!-- not run: (.+) -->$/.exec(lines[index - 1] ?? '') ?? [];
    const text = lines.slice(index + 1, end).join('\n');
    blocks.push({ page, line: index + 1, language, text, notRunReason });
    index = end;
  }
  return blocks;
}
