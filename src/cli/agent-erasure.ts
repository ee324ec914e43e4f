import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Core } from '../compose.ts';
import { presentErasure } from '../presenters/erasure.ts';
import { agentEverByHandle } from '../services/agent-by-handle.ts';
import { beginErasure, type Erasure, lastErasure, requireConfirmed } from '../services/erasure.ts';
import { printResult, resultCommand } from './command.ts';
import { withCore } from './core.ts';
import type { CommandIo } from './io.ts';

interface EraseOptions {
  confirm: string;
  wait: boolean;
  json?: boolean;
}

const interval_ms = 250;

/** `ams agent erase …` */
export function eraseCommand(io: CommandIo): Command {
  return resultCommand('erase', 'retire an agent and erase what it is and said; it cannot be undone')
    .argument('<handle>')
    .requiredOption('--confirm <handle>', 'the same handle once more')
    .option('--no-wait', 'leave it to the worker, and do not wait for the end')
    .action(async (handle: string, options: EraseOptions) => {
      const interrupted = io.interruption();
      const erasure = await withCore(io, async (core) => {
        const begun = await core.unitOfWork.record(async (work) => {
          const agent = await agentEverByHandle(work, handle);
          requireConfirmed(agent.canonical_handle, options.confirm);
          return beginErasure(work, { ...agent, retired: agent.retired_at !== null }, null);
        });
        return options.wait ? follow(core, io, begun, interrupted) : begun;
      });
      if (options.wait && erasure.done_at === null) {
        io.complain(
          `It goes on without this command; look at it with: ams agent erasure ${erasure.handle}\n`,
        );
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
        unitOfWork.consult(async (all) => lastErasure(all, await agentEverByHandle(all, handle))),
      );
      printResult(io, options, presentErasure(erasure));
    });
}

/** Looks at it until it is done, or the signal says so: a worker of the role maintenance does it. */
async function follow(
  { repositories }: Core,
  io: CommandIo,
  begun: Erasure,
  interrupted: AbortSignal,
): Promise<Erasure> {
  let shown = '';
  for (let erasure = begun; ;) {
    const { stage, examined } = erasure;
    const line = `${stage}${stage === 'messages' ? `: ${examined} looked through` : ''}`;
    if (io.terminal && line !== shown) io.complain(`\r\u001b[K${line}`);
    shown = line;
    if (erasure.done_at !== null || interrupted.aborted) {
      if (io.terminal) io.complain('\n');
      return erasure;
    }
    await pause(interval_ms, undefined, { signal: interrupted }).catch(() => {});
    erasure = (await repositories.erasures.find(begun.id)) ?? erasure;
  }
}
