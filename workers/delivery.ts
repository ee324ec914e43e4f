import type { Core } from '../src/compose.ts';
import { packRings, ringsOf } from '../src/domain/rings.ts';
import { delivery } from '../src/jobs/delivery.ts';
import { webhookJob } from '../src/jobs/webhooks.ts';
import { eachOrAll, type JobHandler } from './run.ts';

/** Lines of a feed that one statement reads for a webhook, at most. */
const linesAtOnce = 500;

/**
 * Rings for every agent whom these events concern, and notes what their webhooks have to post. Rings are free to repeat: they say
 * how far the feed goes, no more. A webhook reads its agent's feed like any other reader, so noting may repeat too.
 */
export function deliveryHandler({ repositories, bus, queues }: Core): JobHandler<{ ids: string[] }> {
  const { feed, outbox, presence, webhookNotes } = repositories;

  async function note(agentIds: readonly string[]): Promise<void> {
    const online = [...(await presence.online(agentIds))];
    let behind = agentIds;
    while (behind.length > 0) {
      const now = Date.now();
      const noted = await webhookNotes.note(behind, { online, limit: linesAtOnce, now });
      const due = noted.filter((webhook) => webhook.noted > 0);
      if (due.length > 0) await queues.enqueue(due.map(({ webhook_id }) => webhookJob(webhook_id, now)));
      behind = noted.some(({ lines }) => lines === linesAtOnce) ? agentIds : [];
    }
  }

  async function deliver(ids: readonly string[]): Promise<void> {
    const { heads, posting } = await feed.recipients(ids);
    await bus.publish(packRings(ringsOf(heads)));
    if (posting.length > 0) await note(posting);
    await outbox.settle(delivery.name, ids);
  }
  return { contract: delivery, handle: ({ ids }) => eachOrAll(ids, deliver) };
}
