import type { RemoteItem } from '../../packages/core/src/domain/remote.ts';
import type { Turn } from './turn.ts';

/** Reads of a task while one of its items is held back: for about three days. The message before it may never arrive. */
const maxHeldPolls = 450;

/** Returns the items that follow one that has arrived, in the order of their sender. */
function takeReady(items: readonly RemoteItem[], arrived: Iterable<string>): RemoteItem[] {
  const known = new Set(arrived);
  const [ready, rest] = [[] as RemoteItem[], [...items]];
  for (;;) {
    const at = rest.findIndex(({ after }) => after === null || known.has(after));
    const [item] = at < 0 ? [] : rest.splice(at, 1);
    if (!item) return ready;
    known.add(item.key);
    ready.push(item);
  }
}

/** Returns the items that were not applied yet. `heldAfter`: more follow, after this message, which has not arrived. */
export async function listFresh(
  { core, thread, agent }: Turn,
  items: readonly RemoteItem[],
  polls: number,
): Promise<{ fresh: RemoteItem[]; heldAfter: string | null }> {
  const keys = items.flatMap(({ key, after }) => (after === null ? key : [key, after]));
  const arrived = new Set(await core.db.remoteOrder.listKnown(thread.thread_id, agent.agent_id, keys));
  const all = items.filter(({ key }) => !arrived.has(key));
  const fresh = polls < maxHeldPolls ? takeReady(all, arrived) : all;
  const own = new Set(all.map(({ key }) => key));
  const held = all.find((item) => !fresh.includes(item) && item.after !== null && !own.has(item.after));
  return { fresh, heldAfter: held?.after ?? null };
}
