import { Command } from 'commander';
import type { CommandIo } from './io.ts';
import { formatJson, formatText } from './output.ts';

/** A command that prints one result: as text, or with --json as one line of JSON. */
export function resultCommand(name: string, description: string): Command {
  return new Command(name).description(description).option('--json', 'print the result as one line of JSON');
}

export function printResult(io: CommandIo, options: { json?: boolean }, result: object): void {
  io.print(options.json ? formatJson(result) : formatText(result));
}
