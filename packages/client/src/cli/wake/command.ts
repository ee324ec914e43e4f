import { runProgram } from '../run-program.ts';
import { CommandError, exitCodes } from '../exit-codes.ts';
import type { Harness, HarnessOptions } from './harness.ts';

/**
 * Any program: runs a command of the shell. It gets the counts as AM_MESSAGES, AM_THREADS and AM_CONTACT_REQUESTS, and the text as
 * AM_WAKE_TEXT. The wake is consumed when it ends.
 */
export function createCommand({ env, exec, cwd }: HarnessOptions): Harness {
  if (exec === undefined) throw new CommandError('command needs --exec, the command to run', exitCodes.usage);
  return {
    name: 'command',
    async wake({ counts, text, signal }) {
      const variables = {
        AM_MESSAGES: String(counts.messages),
        AM_THREADS: String(counts.threads),
        AM_CONTACT_REQUESTS: String(counts.requests),
        AM_WAKE_TEXT: text,
      };
      const folder = cwd === undefined ? {} : { cwd };
      const code = await runProgram(exec, { env: { ...env, ...variables }, signal, ...folder });
      if (code !== 0 && !signal.aborted) throw new Error(`the command ended with ${code}`);
    },
  };
}
