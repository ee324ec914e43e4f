import { subjectOf } from './event.ts';
import type { FaultRecord, History } from './history.ts';

export interface RecoveryTime {
  maxMs: number;
  /** The fault with the longest recovery. */
  after: string;
}

/**
 * The longest time from the end of a fault until all requests that began before that end were acknowledged and seen by every
 * reader of every member. Overlapping faults extend it. Null without faults.
 */
export function maxRecoveryTime(
  { sends, readers }: Pick<History, 'sends' | 'readers'>,
  faults: readonly FaultRecord[],
): RecoveryTime | null {
  const lastSeen = new Map<string, number>();
  for (const { seen } of readers) {
    for (const event of seen) {
      if (event.type !== 'message.created') continue;
      const { at } = event;
      const subject = subjectOf(event);
      lastSeen.set(subject, Math.max(at, lastSeen.get(subject) ?? 0));
    }
  }
  const completed = sends.map(({ begun_at, acknowledged_at, answers }) => {
    const seen_at = lastSeen.get(answers[0]?.message_id ?? '') ?? 0;
    return { begun_at, at: Math.max(acknowledged_at ?? 0, seen_at) };
  });
  const times = faults.map(({ kind, ended_at }) => {
    const before = completed.filter(({ begun_at }) => begun_at <= ended_at).map(({ at }) => at - ended_at);
    return { after: kind, maxMs: Math.max(0, ...before) };
  });
  return times.toSorted((one, other) => other.maxMs - one.maxMs)[0] ?? null;
}
