import { setTimeout as pause } from 'node:timers/promises';
import type { CommandIo } from '../io.ts';

const pollIntervalMs = 250;

/** A stored task of a worker. */
interface BackgroundTask {
  done_at: number | null;
}

/**
 * Waits until a task is done or the signal is aborted. On a terminal it shows the progress.
 * @param options `reload` returns the current task, undefined if it no longer exists.
 * @throws if the task no longer exists
 */
export async function waitUntilDone<T extends BackgroundTask>(
  io: CommandIo,
  task: T,
  interrupted: AbortSignal,
  { reload, formatStatus }: { reload(): Promise<T | undefined>; formatStatus(task: T): string },
): Promise<T> {
  let shown = '';
  for (let current = task; ;) {
    const text = formatStatus(current);
    if (io.isTerminal && text !== shown) io.log(`\r\u001b[K${text}`);
    shown = text;
    if (current.done_at !== null || interrupted.aborted) {
      if (io.isTerminal) io.log('\n');
      return current;
    }
    await pause(pollIntervalMs, undefined, { signal: interrupted }).catch(() => {});
    const next = await reload();
    if (!next) throw new Error('the task was removed before it was done; start it again');
    current = next;
  }
}
