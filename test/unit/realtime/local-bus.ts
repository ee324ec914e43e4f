import { topicTable } from '../../../src/platform/bus-topics.ts';
import type { Bus } from '../../../src/platform/bus.ts';

/** A bus within the process; it can lose every call, with or without knowing. */
export function localBus() {
  const topics = topicTable((message, error) => {
    throw new Error(message, { cause: error });
  });
  const state = { deaf: false, healthy: true };
  const bus: Bus = {
    async publish(messages) {
      if (state.deaf) return;
      for (const { topic, body } of messages) topics.dispatch(topic, body);
    },
    async subscribe(topic, handler) {
      const remove = topics.add(topic, handler);
      return async () => void remove();
    },
    healthy: () => state.healthy,
    async close() {},
  };
  return {
    bus,
    state,
    topics: topics.topics,
    ring: (agentId: string, number: number) =>
      bus.publish([{ topic: `agent/${agentId}`, body: String(number) }]),
  };
}
