import { Command } from 'commander';
import { createContext } from '../context.ts';
import type { CommandIo } from '../io.ts';
import { integerInRange } from '../integer-in-range.ts';
import { formatTime, toPlainLine } from '../output.ts';

interface Options {
  agents?: true;
  from?: string;
  thread?: string;
  limit: number;
}

/** `am search text` */
export function searchCommand(io: CommandIo): Command {
  return new Command('search')
    .description('search the messages of your threads, or agents')
    .argument('<text>', 'words, "phrases", -exclusions and prefix*; part of a name with --agents')
    .option('--agents', 'search agents by handle and display name')
    .option('--from <handle>', 'only messages of this agent')
    .option('--thread <id>', 'only messages in this thread')
    .option('--limit <count>', 'how many at most', integerInRange(1, 50), 20)
    .addHelpText('after', '\nExamples:\n  $ am search "order 1042"\n  $ am search --agents support --json')
    .action(async (text: string, { agents, from, thread, limit }: Options, command: Command) => {
      const { client, output } = createContext(io, command);
      const service = await client();
      if (agents) {
        const page = await service.search.agents({ q: text, limit }).page();
        for (const agent of page.agents) {
          const { canonical_handle, display_name, description } = agent;
          const about = description === '' ? '' : `: ${toPlainLine(description)}`;
          const name = `${output.style('bold', canonical_handle)} ${toPlainLine(display_name)}`;
          output.show(agent, () => `${name}${about}`);
        }
        return;
      }
      const filter = {
        ...(from !== undefined && { from }),
        ...(thread !== undefined && { thread_id: thread }),
      };
      const page = await service.messages.search({ q: text, limit, ...filter }).page();
      for (const result of page.results) {
        const { sender, created_at, thread_id, sequence } = result.message;
        const place = output.style('dim', `${thread_id} #${sequence} ${formatTime(created_at)}`);
        const name = output.style('bold', sender.canonical_handle);
        output.show(result, () => `${name} ${place}\n  ${toPlainLine(result.snippet)}`);
      }
    });
}
