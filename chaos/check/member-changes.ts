import type { History } from '../history.ts';
import type { ThreadLog } from './thread-log.ts';
import type { Violation } from './violation.ts';

/** Checks that every acknowledged addition and removal of a member has one event, and every such event a request. */
export function* checkMemberChanges(
  { member_changes }: History,
  logs: ReadonlyMap<string, ThreadLog>,
): Generator<Violation> {
  const events = new Map<string, number>();
  for (const { thread_id, entries } of logs.values()) {
    for (const { event } of entries) {
      if (event.type !== 'thread.member_added' && event.type !== 'thread.member_removed') continue;
      const { member, by } = event.data;
      const kind = event.type === 'thread.member_added' ? 'added' : 'removed';
      const key = toKey({ kind, member_id: member.id, thread_id, agent_id: by.id });
      events.set(key, (events.get(key) ?? 0) + 1);
    }
  }
  const requested = new Map<string, { sure: number; possible: number }>();
  for (const change of member_changes) {
    const counts = requested.get(toKey(change)) ?? { sure: 0, possible: 0 };
    requested.set(toKey(change), counts);
    counts[change.acknowledged_at === null ? 'possible' : 'sure'] += 1;
  }
  for (const [key, { sure }] of requested)
    if ((events.get(key) ?? 0) < sure) yield { kind: 'lost', detail: `the event that ${key}` };
  for (const [key, count] of events) {
    const { sure, possible } = requested.get(key) ?? { sure: 0, possible: 0 };
    if (count > sure + possible) yield { kind: 'doubled', detail: `the event that ${key}` };
  }
}

function toKey(
  change: Pick<History['member_changes'][number], 'kind' | 'member_id' | 'thread_id' | 'agent_id'>,
): string {
  return `${change.agent_id} ${change.kind} ${change.member_id} in ${change.thread_id}`;
}
