import { Command } from 'commander';
import { reading } from './actions.ts';
import type { CommandIo } from './io.ts';
import { showCommand, toStoredName } from './lists.ts';
import { integerInRange } from './option-values.ts';
import { resultCommand } from './output.ts';

interface ThreadListOptions {
  agent?: string;
  before: string;
  limit: number;
}

/** `ams thread …`: threads without the texts of their messages. */
export function threadCommand(io: CommandIo): Command {
  const list = resultCommand('list', 'list threads, newest first')
    .option('--agent <handle>', 'only threads of this agent')
    .option('--before <id>', 'continue with threads before this one', '')
    .option('--limit <n>', 'maximum number', integerInRange(1, 1_000), 50)
    .action(
      reading(
        io,
        ({ db: { operatorLists: lists } }, { agent, ...page }: ThreadListOptions) =>
          agent === undefined
            ? lists.listThreads(page)
            : lists.listThreadsOf({ ...page, handle: toStoredName(agent) }),
        'threads',
      ),
    );
  const show = showCommand(io, { kind: 'thread', argument: '<id>' }, (lists, id) => lists.findThread(id));
  return new Command('thread')
    .description('list threads and their members')
    .addCommand(list)
    .addCommand(show);
}
