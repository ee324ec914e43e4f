import { runProgram } from '../run-program.ts';
import type { Harness, HarnessOptions } from './harness.ts';

/**
 * Claude Code: continues a session in print mode, `claude --resume SESSION --print TEXT`, or the latest session of the folder with
 * `--continue`. A terminal that is open in the same session gets no turn: its agent sees the messages at its next one.
 * Interface: https://docs.anthropic.com/en/docs/claude-code/cli-reference
 */
export function createClaudeCode({ env, session, cwd }: HarnessOptions): Harness {
  const which = session === undefined ? ['--continue'] : ['--resume', session];
  return {
    name: 'claude-code',
    async wake({ text, signal }) {
      const folder = cwd === undefined ? {} : { cwd };
      const code = await runProgram(['claude', ...which, '--print', text], { env, signal, ...folder });
      if (code !== 0 && !signal.aborted) throw new Error(`claude ended with ${code}`);
    },
  };
}
