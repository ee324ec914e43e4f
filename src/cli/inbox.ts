import { system } from '../../packages/core/src/domain/auth/audit.ts';
import { Command, Option } from 'commander';
import { findAgentByHandle } from '../services/agents/find-by-handle.ts';
import { listOldestDeadItems, redriveAllDeadItems, redriveDeadItem } from '../services/inbox/dead-items.ts';
import { readInbox } from '../services/inbox/settings.ts';
import { waitForBus, withCore, operator } from './core.ts';
import type { CommandIo } from './io.ts';
import { integerInRange } from './option-values.ts';
import { printResult, resultCommand } from './output.ts';

interface Json {
  json?: boolean;
}

/** `ams inbox …` */
export function inboxCommand(io: CommandIo): Command {
  return new Command('inbox')
    .description('show the inbox of an agent, and repeat its dead items')
    .addCommand(showCommand(io))
    .addCommand(deadCommand(io))
    .addCommand(redriveCommand(io));
}

function showCommand(io: CommandIo): Command {
  return resultCommand('show', 'show the settings, items by state, and instances')
    .argument('<handle>')
    .action(async (handle: string, options: Json) => {
      const inbox = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.read(system, async (work) => {
          const { id } = await findAgentByHandle(work, handle);
          return readInbox(work, id);
        }),
      );
      const { agent_id: _agent, position: _position, ...shown } = inbox;
      printResult(io, options, shown);
    });
}

function deadCommand(io: CommandIo): Command {
  return resultCommand('dead', 'list the items that failed all attempts, oldest first')
    .argument('<handle>')
    .addOption(new Option('--limit <n>', 'maximum number').argParser(integerInRange(1, 1_000)).default(50))
    .action(async (handle: string, { limit, json }: Json & { limit: number }) => {
      const found = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.read(system, async (work) => {
          const { id } = await findAgentByHandle(work, handle);
          return listOldestDeadItems(work, id, limit);
        }),
      );
      // An operator needs no content of messages.
      const items = found.map(({ id, attempts, reasons, dead_at, event }) => {
        const { type, thread_id } = event;
        return { id, type, thread_id, attempts, dead_at, reasons };
      });
      printResult(io, { ...(json && { json }) }, json ? { items } : items);
    });
}

function redriveCommand(io: CommandIo): Command {
  return resultCommand('redrive', 'make one dead item ready again, or all of them')
    .argument('<handle>')
    .argument('[item_id]')
    .option('--all', 'make all dead items ready again')
    .action(async (handle: string, item_id: string | undefined, options: Json & { all?: true }) => {
      if ((item_id === undefined) !== (options.all === true)) {
        throw new Error('give either an item_id or --all');
      }
      const redriven = await withCore(io, async (core) => {
        // Waiting claims get the message if the bus is connected; otherwise they find the items at their next call.
        await waitForBus(core);
        return core.unitOfWork.write(operator(), async (work) => {
          const { id } = await findAgentByHandle(work, handle);
          if (item_id === undefined) return redriveAllDeadItems(work, id);
          await redriveDeadItem(work, id, item_id);
          return 1;
        });
      });
      printResult(io, options, { redriven });
    });
}
