import { setTimeout as pause } from 'node:timers/promises';
import type { CommandIo } from './io.ts';

const interval_ms = 250;

/** What a worker does, as it is stored. */
interface UnderWay {
  done_at: number | null;
}

/**
 * Looks at something until it is done, or the signal says so. On a terminal it shows how far it is.
 * @param look what has become of it; undefined when it is gone.
 */
export async function follow<T extends UnderWay>(
  io: CommandIo,
  begun: T,
  interrupted: AbortSignal,
  { look, line }: { look(): Promise<T | undefined>; line(now: T): string },
): Promise<T> {
  let shown = '';
  for (let now = begun; ;) {
    const text = line(now);
    if (io.terminal && text !== shown) io.complain(`\r\u001b[K${text}`);
    shown = text;
    if (now.done_at !== null || interrupted.aborted) {
      if (io.terminal) io.complain('\n');
      return now;
    }
    await pause(interval_ms, undefined, { signal: interrupted }).catch(() => {});
    const next = await look();
    if (!next) throw new Error('it was given up meanwhile');
    now = next;
  }
}
