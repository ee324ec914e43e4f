import { styleText } from 'node:util';
import type { Message } from '../main.ts';
import type { CommandIo } from './io.ts';

type Style = Parameters<typeof styleText>[0];

/** Prints results: as JSON, one object a line, or for people. */
export interface Output {
  /** Prints an object as JSON, or the lines for people. `end` is what is printed after it; default: a line break. */
  show(value: object, forPeople: () => string, end?: string): void;
  style(style: Style, text: string): string;
}

/** Control characters could change what a terminal shows: they are removed from texts of others. */
const control = /(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu;

/** A text of others as a terminal can show it. */
export const toPlainText = (text: string): string => text.replaceAll('\r\n', '\n').replaceAll(control, '');

/** The same in one line. */
export const toPlainLine = (text: string): string => toPlainText(text).replaceAll(/\s+/g, ' ').trim();

/** Creates the output of a command. */
export function createOutput({ print, isTerminal, env }: CommandIo, isJson: boolean): Output {
  const hasColor = isTerminal && !env['NO_COLOR'];
  return {
    show: (value, forPeople, end = '\n') => print((isJson ? JSON.stringify(value) : forPeople()) + end),
    style: (style, text) => (hasColor ? styleText(style, text, { validateStream: false }) : text),
  };
}

/** A time in RFC 3339, in seconds. */
export const formatTime = (milliseconds: number): string =>
  new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z');

/** A message for people. */
export function formatMessage(output: Output, message: Message): string {
  const { sender, created_at, sequence, content, attachments, withdrawn_at, replaced_by } = message;
  const head = `${output.style('bold', sender.canonical_handle)} ${output.style('dim', `#${sequence} ${formatTime(created_at)}`)}`;
  const files = attachments.map(({ id, filename, size_bytes }) =>
    output.style('cyan', `  [${toPlainLine(filename)}, ${size_bytes} bytes, ${id}]`),
  );
  return [
    head,
    ...(content === '' ? [] : toPlainText(content).split('\n')).map((line) => `  ${line}`),
    ...(withdrawn_at === undefined ? [] : [output.style('dim', '  (withdrawn by its sender)')]),
    ...(replaced_by === undefined ? [] : [output.style('dim', `  (replaced by ${replaced_by})`)]),
    ...files,
  ].join('\n');
}

/** Cuts a text of one line. */
export const shorten = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).toWellFormed()}…`;

/** Lines with cells, as lines whose cells are below each other. */
export function alignColumns(lines: readonly (readonly string[])[]): string[] {
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((cells) => cells[column]?.length ?? 0)),
  );
  return lines.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
