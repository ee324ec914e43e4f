import { runProgram } from '../run-program.ts';
import type { Harness, HarnessOptions } from './harness.ts';

/**
 * Codex: continues a session without a terminal, `codex exec resume SESSION TEXT`, or the latest one with `--last`. A terminal that is open in
 * the same session gets no turn: its agent sees the messages at its next one.
 * Interface: https://github.com/openai/codex/blob/main/docs/exec.md
 */
export function createCodex({ env, session, cwd }: HarnessOptions): Harness {
  return {
    name: 'codex',
    async wake({ text, signal }) {
      const folder = cwd === undefined ? {} : { cwd };
      const program = ['codex', 'exec', 'resume', session ?? '--last', text] as const;
      const code = await runProgram(program, { env, signal, ...folder });
      if (code !== 0 && !signal.aborted) throw new Error(`codex ended with ${code}`);
    },
  };
}
