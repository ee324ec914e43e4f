import type { Core } from '../../src/compose.ts';
import { remoteTopic } from '../../packages/core/src/domain/remote.ts';
import { enqueuePosting } from '../../src/jobs/posting.ts';

/**
 * Subscribes to messages about remote agents and threads for which something is due because of a request. The sweep finds those whose message
 * is lost.
 */
export function subscribeToRemoteWakeups(core: Core): void {
  core.bus.subscribe(remoteTopic, (id) => enqueuePosting(core, id));
}
