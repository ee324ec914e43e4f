import { Command } from 'commander';
import { findAgentByHandle } from '../services/agents/find-by-handle.ts';
import { listOldestDeadItems, redriveAllDeadItems, redriveDeadItem } from '../services/inbox/dead-items.ts';
import { readInbox } from '../services/inbox/settings.ts';
import { printing, reading } from './actions.ts';
import { operator, waitForBus, withCore } from './core.ts';
import type { CommandIo } from './io.ts';
import { integerInRange } from './option-values.ts';
import { resultCommand } from './output.ts';

/** `ams inbox …` */
export function inboxCommand(io: CommandIo): Command {
  const show = resultCommand('show', 'show the settings, items by state, and instances')
    .argument('<handle>')
    .action(
      reading(io, async (work, handle: string) => {
        const { id } = await findAgentByHandle(work, handle);
        const { agent_id: _agent, position: _position, ...shown } = await readInbox(work, id);
        return shown;
      }),
    );

  const dead = resultCommand('dead', 'list the items that failed all attempts, oldest first')
    .argument('<handle>')
    .option('--limit <n>', 'maximum number', integerInRange(1, 1_000), 50)
    .action(
      reading(
        io,
        async (work, handle: string, { limit }: { limit: number }) => {
          const agent = await findAgentByHandle(work, handle);
          const found = await listOldestDeadItems(work, agent.id, limit);
          // An operator needs no content of messages.
          return found.map(({ id, attempts, reasons, dead_at, event }) => {
            const { type, thread_id } = event;
            return { id, type, thread_id, attempts, dead_at, reasons };
          });
        },
        'items',
      ),
    );

  const redrive = resultCommand('redrive', 'make one dead item ready again, or all of them')
    .argument('<handle>')
    .argument('[item_id]')
    .option('--all', 'make all dead items ready again')
    .action(
      printing(io, async (handle: string, item_id: string | undefined, { all }: { all?: true }) => {
        if ((item_id === undefined) !== (all === true)) throw new Error('give either an item_id or --all');
        return withCore(io, async (core) => {
          // Waiting claims get the message if the bus is connected; otherwise they find the items at their next call.
          await waitForBus(core);
          return core.unitOfWork.write(operator(), async (work) => {
            const { id } = await findAgentByHandle(work, handle);
            if (item_id === undefined) return { redriven: await redriveAllDeadItems(work, id) };
            await redriveDeadItem(work, id, item_id);
            return { redriven: 1 };
          });
        });
      }),
    );

  return new Command('inbox')
    .description('show the inbox of an agent, and repeat its dead items')
    .addCommand(show)
    .addCommand(dead)
    .addCommand(redrive);
}
