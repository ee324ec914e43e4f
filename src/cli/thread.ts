import { system } from '../../packages/core/src/domain/auth/audit.ts';
import { Command } from 'commander';
import { withCore } from './core.ts';
import type { CommandIo } from './io.ts';
import { showCommand, toStoredName } from './lists.ts';
import { integerInRange } from './option-values.ts';
import { printResult, resultCommand } from './output.ts';

interface ThreadListOptions {
  agent?: string;
  before: string;
  limit: number;
  json?: boolean;
}

/** `ams thread …`: threads without the texts of their messages. */
export function threadCommand(io: CommandIo): Command {
  const list = resultCommand('list', 'list threads, newest first')
    .option('--agent <handle>', 'only threads of this agent')
    .option('--before <id>', 'continue with threads before this one', '')
    .option('--limit <n>', 'maximum number', integerInRange(1, 1_000), 50)
    .action(async ({ agent, before, limit, json }: ThreadListOptions) => {
      const threads = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.read(system, ({ db: { operatorLists } }) =>
          operatorLists.listThreads({ before, limit }, agent === undefined ? null : toStoredName(agent)),
        ),
      );
      printResult(io, { ...(json && { json }) }, json ? { threads } : threads);
    });
  const show = showCommand(io, { kind: 'thread', argument: '<id>' }, (lists, id) => lists.findThread(id));
  return new Command('thread')
    .description('list threads and their members')
    .addCommand(list)
    .addCommand(show);
}
