import { ringTopic } from '../src/announcer.ts';
import type { Core } from '../src/compose.ts';
import { delivery } from '../src/jobs/delivery.ts';
import { eachOrAll, type JobHandler } from './run.ts';

/** Rings for every agent whom these events concern. Rings are free to repeat: they say how far the feed goes, no more. */
export function deliveryHandler({ repositories, bus }: Core): JobHandler<{ ids: string[] }> {
  async function deliver(ids: readonly string[]): Promise<void> {
    const heads = await repositories.feed.recipients(ids);
    await bus.publish(
      heads.map((head) => ({ topic: ringTopic(head.agent_id), body: String(head.last_number) })),
    );
    await repositories.outbox.settle(delivery.name, ids);
  }
  return { contract: delivery, handle: ({ ids }) => eachOrAll(ids, deliver) };
}
