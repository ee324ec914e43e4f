import { system } from '../../packages/core/src/domain/auth/audit.ts';
import type { Command } from 'commander';
import type { Core } from '../compose.ts';
import { DomainError } from '../../packages/core/src/domain/errors.ts';
import { withCore } from './core.ts';
import type { CommandIo } from './io.ts';
import { integerInRange } from './option-values.ts';
import { printResult, resultCommand } from './output.ts';

type Lists = Core['db']['operatorLists'];

export interface ListOptions {
  after: string;
  limit: number;
  json?: boolean;
  /** Of agents only. */
  owner?: string;
  retired?: boolean;
}

/** Creates a command that lists records by name, a page at a time. With --json the list is in the field `name`. */
export function listCommand(
  io: CommandIo,
  { field, description }: { field: string; description: string },
  read: (lists: Lists, options: ListOptions) => Promise<object[]>,
): Command {
  return resultCommand('list', description)
    .option('--limit <n>', 'maximum number', integerInRange(1, 1_000), 50)
    .option('--after <name>', 'continue after the last name of the previous page', '')
    .action(async (options: ListOptions) => {
      const records = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.read(system, ({ db: { operatorLists } }) => read(operatorLists, options)),
      );
      printResult(io, options, options.json ? { [field]: records } : records);
    });
}

/** Creates a command that shows one record, or fails with NOT_FOUND. */
export function showCommand(
  io: CommandIo,
  { kind, argument }: { kind: string; argument: string },
  find: (lists: Lists, name: string) => Promise<object | undefined>,
): Command {
  return resultCommand('show', `show one ${kind}`)
    .argument(argument)
    .action(async (name: string, options: { json?: boolean }) => {
      const record = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.read(system, ({ db: { operatorLists } }) => find(operatorLists, name)),
      );
      if (!record) throw new DomainError('NOT_FOUND', `No such ${kind}: ${name.slice(0, 80)}`);
      printResult(io, options, record);
    });
}

/** Names are stored in lower case; a handle can have an @ before it. */
export const toStoredName = (text: string): string => text.trim().toLowerCase().replace(/^@/, '');
