import { Command } from 'commander';
import type { CommandIo } from './io.ts';

type Value = string | number | boolean | null | undefined | object;

/** Fields as a person reads them: one a line, names in one column. Times are shown as dates. */
export function formatText(result: object): string {
  if (Array.isArray(result)) return result.length > 0 ? result.map(formatText).join('\n') : '(none)\n';
  const fields: [string, Value][] = Object.entries(result);
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${formatValue(name, value)}\n`).join('');
}

/** One JSON value on one line. */
export function formatJson(result: object): string {
  return `${JSON.stringify(result)}\n`;
}

function formatValue(name: string, value: Value): string {
  if (typeof value === 'number' && name.endsWith('_at')) return new Date(value).toISOString();
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(' ');
  if (typeof value === 'object' && value !== null) return JSON.stringify(value);
  return String(value ?? '-');
}

/** A command that prints one result: as text, or with --json as one line of JSON. */
export function resultCommand(name: string, description: string): Command {
  return new Command(name).description(description).option('--json', 'print the result as one line of JSON');
}

export function printResult(io: CommandIo, options: { json?: boolean }, result: object): void {
  io.print(options.json ? formatJson(result) : formatText(result));
}
