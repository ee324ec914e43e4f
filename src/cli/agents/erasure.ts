import type { Command } from 'commander';
import { presentErasure } from '../../../packages/core/src/records/progress.ts';
import { findAnyAgentByHandle } from '../../services/agents/find-by-handle.ts';
import { beginErasure, lastErasure, requireConfirmed } from '../../services/agents/erasures.ts';
import { printing, reading } from '../actions.ts';
import { operator, withCore } from '../core.ts';
import type { CommandIo } from '../io.ts';
import { resultCommand } from '../output.ts';
import { waitUntilDone } from './wait-until-done.ts';
import { warnIfRoleMissing } from '../maintenance/worker-roles.ts';

interface EraseOptions {
  confirm: string;
  wait: boolean;
}

/** `ams agent erase …` */
export function eraseCommand(io: CommandIo): Command {
  return resultCommand('erase', 'retire an agent and erase its data permanently')
    .argument('<handle>')
    .requiredOption('--confirm <handle>', 'repeat the handle')
    .option('--no-wait', 'do not wait until the worker is done')
    .action(
      printing(io, async (handle: string, { confirm, wait }: EraseOptions) => {
        const interrupted = io.interruptSignal();
        const erasure = await withCore(io, async (core) => {
          const begun = await core.unitOfWork.write(operator(), async (work) => {
            const agent = await findAnyAgentByHandle(work, handle);
            requireConfirmed(agent.canonical_handle, confirm);
            return beginErasure(work, { ...agent, retired: agent.retired_at !== null }, null);
          });
          await warnIfRoleMissing(core, 'maintenance', io);
          if (!wait) return begun;
          return waitUntilDone(io, begun, interrupted, {
            reload: () => core.db.erasures.find(begun.id),
            formatStatus: ({ stage, examined }) =>
              stage === 'messages' ? `${stage}: ${examined} examined` : stage,
          });
        });
        if (wait && erasure.done_at === null) {
          io.log(`The erasure continues in the worker. Check it with: ams agent erasure ${erasure.handle}\n`);
        }
        return presentErasure(erasure);
      }),
    );
}

/** `ams agent erasure …` */
export function erasureCommand(io: CommandIo): Command {
  return resultCommand('erasure', 'show the progress of an erasure, and its report when it is done')
    .argument('<handle>')
    .action(
      reading(io, async (work, handle: string) =>
        presentErasure(await lastErasure(work, await findAnyAgentByHandle(work, handle))),
      ),
    );
}
