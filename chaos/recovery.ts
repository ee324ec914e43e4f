import { setTimeout as pause } from 'node:timers/promises';
import { isOwnTaskChange } from './event.ts';
import type { Collector } from './collect.ts';
import type { WebhookAttempt } from './history.ts';
import type { LastMessages } from './load/message-actions.ts';
import type { Agent } from './load/population.ts';
import { countUnmovedItems, listPendingJobs } from './outbox.ts';
import type { Reader } from './reader.ts';

export interface RecoveryParts {
  /** Address of the database. */
  outbox_url: string;
  collect: Collector;
  agents: readonly Agent[];
  /** The cursors from which the readers started, by agent. */
  starts: ReadonlyMap<string, string>;
  readers: readonly Reader[];
  webhooks: readonly WebhookAttempt[];
  last: readonly LastMessages[];
  giveUp: AbortSignal;
}

const pauseMs = 200;

/**
 * Waits until the delivered marks have reached the last messages, the handled marks have moved, every reader and webhook has received all
 * events, and the outbox is empty. When it gives up, the checker reports what is missing.
 * @returns the jobs that are left in the outbox
 */
export async function waitForRecovery(parts: RecoveryParts): Promise<string[]> {
  const { outbox_url, collect, agents, starts, readers, webhooks, giveUp } = parts;
  await waitForDeliveredMarks(parts);
  const cursors = new Map<string, string>(starts);
  const ends = new Map<string, number>();
  // Ids of the events since the start that webhooks get, by agent.
  const times = new Map<string, Map<string, number>>(agents.map(({ id }) => [id, new Map()]));
  while (!giveUp.aborted) {
    for (const agent of agents) {
      const { start, events, cursor } = await collect.feed(agent, cursors.get(agent.id) ?? null);
      if (cursor !== null) cursors.set(agent.id, cursor);
      ends.set(agent.id, events.at(-1)?.number ?? start);
      for (const event of events)
        if (!isOwnTaskChange(event, agent.id))
          times.get(agent.id)?.set(event.event_id, event.created_at ?? 0);
    }
    const isDelivered = webhooks.every((webhook) => hasAll(webhook, times.get(webhook.agent_id)));
    const isDone = isDelivered && haveCaughtUp(readers, ends);
    const pending = await listPendingJobs(outbox_url);
    if (isDone && (await countUnmovedItems(outbox_url)) + pending.length === 0) return [];
    await pause(pauseMs);
  }
  return listPendingJobs(outbox_url);
}

/** Whether every reader has reached these positions in the feeds. */
export function haveCaughtUp(readers: readonly Reader[], ends: ReadonlyMap<string, number>): boolean {
  return readers.every(({ history, position }) => position() >= (ends.get(history.agent_id) ?? 0));
}

/** Whether the receiver of a webhook got all events that were created after it. */
function hasAll({ acknowledged_at, posts }: WebhookAttempt, events?: ReadonlyMap<string, number>): boolean {
  if (acknowledged_at === null) return true;
  const got = new Set(posts.map(({ id }) => id));
  return [...(events ?? [])].every(([id, created_at]) => created_at <= acknowledged_at || got.has(id));
}

async function waitForDeliveredMarks({ collect, agents, last, giveUp }: RecoveryParts): Promise<void> {
  const pending = new Set(last);
  while (!giveUp.aborted && pending.size > 0) {
    for (const thread of pending) {
      const reader = agents.find(({ id }) => id === thread.messages[0]?.sender_id);
      const receipts = reader ? await collect.receipts(reader, thread.thread_id) : [];
      const isReached = receipts.every(({ agent_id, delivered }) =>
        thread.messages.every(({ sender_id, sequence }) => sender_id === agent_id || delivered >= sequence),
      );
      if (isReached) pending.delete(thread);
    }
    if (pending.size > 0) await pause(pauseMs);
  }
}
