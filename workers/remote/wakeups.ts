import type { Core } from '../../src/compose.ts';
import { remoteTopic } from '../../packages/core/src/domain/remote.ts';
import { createPostingJob } from '../../src/jobs/posting.ts';

/**
 * Subscribes to messages about remote agents and threads for which something is due because of a request. The sweep finds those whose message
 * is lost.
 */
export async function subscribeToRemoteWakeups({ bus, queues, logger }: Core): Promise<void> {
  await bus.subscribe(remoteTopic, (id) => {
    queues
      .enqueue([createPostingJob(id, Date.now())])
      .catch((error: unknown) =>
        logger.debug({ err: error }, 'remote delivery not enqueued; the sweep retries'),
      );
  });
}
