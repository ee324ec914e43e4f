import { setTimeout as pause } from 'node:timers/promises';
import type { CommandIo } from '../io.ts';

const pollIntervalMs = 250;

/** What a worker does, as it is stored. */
interface BackgroundTask {
  done_at: number | null;
}

/**
 * Looks at something until it is done, or the signal says so. On a terminal it shows how far it is.
 * @param look what has become of it; undefined when it is gone.
 */
export async function waitUntilDone<T extends BackgroundTask>(
  io: CommandIo,
  begun: T,
  interrupted: AbortSignal,
  { look, line }: { look(): Promise<T | undefined>; line(now: T): string },
): Promise<T> {
  let shown = '';
  for (let now = begun; ;) {
    const text = line(now);
    if (io.isTerminal && text !== shown) io.log(`\r\u001b[K${text}`);
    shown = text;
    if (now.done_at !== null || interrupted.aborted) {
      if (io.isTerminal) io.log('\n');
      return now;
    }
    await pause(pollIntervalMs, undefined, { signal: interrupted }).catch(() => {});
    const next = await look();
    if (!next) throw new Error('it was given up meanwhile');
    now = next;
  }
}
