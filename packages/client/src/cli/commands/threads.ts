import { Command } from 'commander';
import { createContext } from '../context.ts';
import type { CommandIo } from '../io.ts';
import { integerInRange } from '../integer-in-range.ts';
import type { Thread } from '../../main.ts';
import { showThreads } from '../thread-table.ts';

interface Options {
  unread?: true;
  with?: string;
  archived?: true;
  limit: number;
}

/** `am threads` */
export function threadsCommand(io: CommandIo): Command {
  return new Command('threads')
    .description('list your threads, most recently active first')
    .option('--unread', 'only threads with unread messages')
    .option('--with <handle>', 'only threads with this agent')
    .option('--archived', 'archived threads instead')
    .option('--limit <count>', 'how many at most', integerInRange(1, 1_000), 20)
    .addHelpText('after', '\nExamples:\n  $ am threads --unread\n  $ am threads --with globex.support --json')
    .action(async (options: Options, command: Command) => {
      const { client, output, isJson } = createContext(io, command);
      const service = await client();
      const me = await service.agents.getMe();
      const filter = {
        ...(options.unread && { unread: true }),
        ...(options.with !== undefined && { with_handle: options.with }),
        ...(options.archived && { status: 'archived' as const }),
      };
      const found: Thread[] = [];
      for await (const thread of service.threads.list({ ...filter, limit: Math.min(100, options.limit) })) {
        found.push(thread);
        if (found.length === options.limit) break;
      }
      if (options.with !== undefined && found.length === 0)
        io.log(`no thread with ${options.with} was found\n`);
      await showThreads(service, { output, isJson, me: me.canonical_handle }, found);
    });
}
