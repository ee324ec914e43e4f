import { Command } from 'commander';
import { alignColumns, toPlainLine } from '../../packages/client/src/cli/output.ts';
import type { CommandIo } from './io.ts';

type Value = string | number | boolean | null | undefined | object;

/** Returns the fields for people: one per line, times in RFC 3339. */
function formatText(result: object): string {
  if (Array.isArray(result)) return result.length > 0 ? result.map(formatText).join('\n') : '(none)\n';
  const fields: [string, Value][] = Object.entries(result);
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${formatValue(name, value)}\n`).join('');
}

/** Returns a list as a table with a header; null if it is not a list, or is wider than the terminal. */
function formatTable(result: object, width: number): string | null {
  if (!Array.isArray(result) || result.length === 0) return null;
  const names = [...new Set(result.flatMap((row) => Object.keys(row)))];
  const lines = alignColumns([
    names.map((name) => name.toUpperCase()),
    ...result.map((row) => names.map((name) => formatValue(name, row[name]))),
  ]);
  return lines.some(({ length }) => length > width) ? null : `${lines.join('\n')}\n`;
}

/** Returns one line of JSON. */
export function formatJson(result: object): string {
  return `${JSON.stringify(result)}\n`;
}

function formatValue(name: string, value: Value): string {
  if (typeof value === 'number' && /(?:^|_)(?:at|until)$/.test(name)) return new Date(value).toISOString();
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(' ');
  if (typeof value === 'object' && value !== null) return JSON.stringify(value);
  // Text that users wrote could contain control sequences for the terminal.
  return typeof value === 'string' ? toPlainLine(value) : String(value ?? '-');
}

/** Creates a command that prints one result: as text, or with --json as one line of JSON. */
export function resultCommand(name: string, description: string): Command {
  return new Command(name).description(description).option('--json', 'print the result as one line of JSON');
}

/** Prints a result as text or JSON. */
export function printResult(io: CommandIo, options: { json?: boolean }, result: object): void {
  const table = options.json || io.columns === undefined ? null : formatTable(result, io.columns);
  io.print(options.json ? formatJson(result) : (table ?? formatText(result)));
}
