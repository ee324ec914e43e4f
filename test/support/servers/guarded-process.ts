import { spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { startGuard } from '../../../scripts/parts/cleanup-guard.ts';

/**
 * Starts a server. It ends with the test process, however that ends, and so does a folder of its own.
 * @param endsBy the signal that ends the server
 */
export function startGuarded(
  [program = '', ...args]: readonly string[],
  {
    folder = '',
    endsBy = 'KILL',
    ...options
  }: SpawnOptions & { folder?: string; endsBy?: 'KILL' | 'QUIT' | 'TERM' },
) {
  const child = spawn(program, args, { stdio: 'ignore', ...options });
  const ended = once(child, 'close');
  const guard = startGuard(`kill -${endsBy} ${child.pid}; sleep 1; rm -rf "$1"`, folder);
  /** Ends the server, which leaves its folder. */
  async function end(): Promise<void> {
    child.kill(`SIG${endsBy}`);
    await ended;
    guard.kill('SIGKILL');
  }
  return {
    child,
    ended,
    end,
    async stop(): Promise<void> {
      await end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
