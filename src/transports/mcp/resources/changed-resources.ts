import { eventOf } from '../../../../packages/core/src/events/list.ts';
import type { LiveEvent } from '../../../realtime/contract.ts';
import type { Resources } from './resources.ts';

/** The subscribed resources that the events have changed, as the client writes their URIs, without duplicates. */
export function findChangedResources(
  events: readonly Pick<LiveEvent, 'type' | 'thread_id'>[],
  subscribed: readonly string[],
  resources: Pick<Resources, 'find'>,
): string[] {
  if (subscribed.length === 0) return [];
  const changed = new Set(
    events.flatMap(({ type, thread_id }) =>
      eventOf(type).resources.map((uri) => uri.replace('{thread_id}', thread_id ?? '')),
    ),
  );
  return subscribed.filter((name) => changed.has(resources.find(name)?.uri ?? ''));
}
