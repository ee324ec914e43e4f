import type { Command } from 'commander';
import { DomainError } from '../../packages/core/src/domain/errors.ts';
import type { Core } from '../compose.ts';
import { reading } from './actions.ts';
import type { CommandIo } from './io.ts';
import { integerInRange } from './option-values.ts';
import { resultCommand } from './output.ts';

type Lists = Core['db']['operatorLists'];

interface ListOptions {
  after: string;
  limit: number;
  /** Of agents only. */
  owner?: string;
  retired?: boolean;
}

/** Creates a command that lists records by name, a page at a time. With --json the list is in the field `field`. */
export function listCommand(
  io: CommandIo,
  { field, description }: { field: string; description: string },
  read: (lists: Lists, options: ListOptions) => Promise<object[]>,
): Command {
  return resultCommand('list', description)
    .option('--limit <n>', 'maximum number', integerInRange(1, 1_000), 50)
    .option('--after <name>', 'continue after the last name of the previous page', '')
    .action(
      reading(
        io,
        ({ db: { operatorLists } }, options: ListOptions) =>
          read(operatorLists, { ...options, after: toStoredName(options.after) }),
        field,
      ),
    );
}

/** Creates a command that shows one record, or fails with NOT_FOUND. */
export function showCommand(
  io: CommandIo,
  { kind, argument }: { kind: string; argument: string },
  find: (lists: Lists, name: string) => Promise<object | undefined>,
): Command {
  return resultCommand('show', `show one ${kind}`)
    .argument(argument)
    .action(
      reading(io, async ({ db: { operatorLists } }, name: string) => {
        const record = await find(operatorLists, name);
        if (!record) throw new DomainError('NOT_FOUND', `No such ${kind}: ${name.slice(0, 80)}`);
        return record;
      }),
    );
}

/** Names are stored in lower case; a handle can have an @ before it. */
export const toStoredName = (text: string): string => text.trim().toLowerCase().replace(/^@/, '');
