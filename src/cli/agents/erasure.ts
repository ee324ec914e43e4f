import type { Command } from 'commander';
import { presentErasure } from '../../presenters/progress.ts';
import { findAnyAgentByHandle } from '../../services/agents/find-by-handle.ts';
import { beginErasure, lastErasure, requireConfirmed } from '../../services/agents/erasures.ts';
import { printResult, resultCommand } from '../output.ts';
import { withCore } from '../core.ts';
import { waitUntilDone } from './wait-until-done.ts';
import type { CommandIo } from '../io.ts';
import { warnIfRoleMissing } from '../maintenance/worker-roles.ts';

interface EraseOptions {
  confirm: string;
  wait: boolean;
  json?: boolean;
}

/** `ams agent erase …` */
export function eraseCommand(io: CommandIo): Command {
  return resultCommand('erase', 'retire an agent and erase what it is and said; it cannot be undone')
    .argument('<handle>')
    .requiredOption('--confirm <handle>', 'the same handle once more')
    .option('--no-wait', 'leave it to the worker, and do not wait for the end')
    .action(async (handle: string, options: EraseOptions) => {
      const interrupted = io.interruptSignal();
      const erasure = await withCore(io, async (core) => {
        const begun = await core.unitOfWork.writeAsSystem(async (work) => {
          const agent = await findAnyAgentByHandle(work, handle);
          requireConfirmed(agent.canonical_handle, options.confirm);
          return beginErasure(work, { ...agent, retired: agent.retired_at !== null }, null);
        });
        await warnIfRoleMissing(core, 'maintenance', io);
        if (!options.wait) return begun;
        return waitUntilDone(io, begun, interrupted, {
          look: () => core.repositories.erasures.find(begun.id),
          line: ({ stage, examined }) =>
            stage === 'messages' ? `${stage}: ${examined} looked through` : stage,
        });
      });
      if (options.wait && erasure.done_at === null) {
        io.log(`It goes on without this command; look at it with: ams agent erasure ${erasure.handle}\n`);
      }
      printResult(io, options, presentErasure(erasure));
    });
}

/** `ams agent erasure …` */
export function erasureCommand(io: CommandIo): Command {
  return resultCommand('erasure', 'how far the erasure of an agent is; at its end, the report')
    .argument('<handle>')
    .action(async (handle: string, options: { json?: boolean }) => {
      const erasure = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.readAsSystem(async (all) => lastErasure(all, await findAnyAgentByHandle(all, handle))),
      );
      printResult(io, options, presentErasure(erasure));
    });
}
