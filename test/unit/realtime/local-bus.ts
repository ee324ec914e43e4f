import { packWakeups } from '../../../packages/core/src/domain/feed/wakeups.ts';
import { createTopicTable } from '../../../src/platform/bus/topics.ts';
import type { Bus } from '../../../src/platform/bus/bus.ts';

/** A bus within the process; it can lose every call, with or without knowing. */
export function createLocalBus() {
  const listened = new Map<() => void, string>();
  const topics = createTopicTable((message, error) => {
    throw new Error(message, { cause: error });
  });
  const state = { deaf: false, healthy: true };
  const bus: Bus = {
    async publish(messages) {
      if (state.deaf) return;
      for (const { topic, body } of messages) topics.dispatch(topic, body);
    },
    subscribe(topic, handler) {
      const remove = topics.subscribe(topic, handler);
      listened.set(remove, topic);
      return () => {
        remove();
        listened.delete(remove);
      };
    },
    isHealthy: () => state.healthy,
    async close() {},
  };
  return {
    bus,
    state,
    topics: () => [...new Set(listened.values())],
    notify: (agentId: string, number: number) =>
      bus.publish(packWakeups([{ agent_id: agentId, last_number: number }])),
  };
}
