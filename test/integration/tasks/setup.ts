import { expect } from 'vitest';
import type { FeedEvent } from '../../clients/feed.ts';
import type { TestAgent, TestService } from '../../support/service.ts';

/** Calls about tasks, through the API of this service. */
export function tasksOf(service: TestService) {
  return {
    pair: () => Promise.all([service.agent(), service.agent()]),
    async openTask(client: TestAgent, agent: TestAgent, fields: object = {}) {
      const { status, text, body } = await service.post(client, '/tasks', {
        with_handle: agent.handle,
        content: 'When does it arrive?',
        ...fields,
      });
      expect(status, text).toBe(201);
      return body as { id: string; thread_id: string; message_id: string; generation: number };
    },
    read: async (viewer: TestAgent, id: string) => (await service.get(viewer, `/tasks/${id}`)).body,
    /** The state and the generation. */
    async stateOf(viewer: TestAgent, id: string): Promise<[string, number]> {
      const { body } = await service.get(viewer, `/tasks/${id}`);
      return [body.state, body.generation];
    },
    send: (sender: TestAgent, thread: string, fields: object) =>
      service.post(sender, `/threads/${thread}/messages`, { content: 'text', ...fields }),
    report: (agent: TestAgent, id: string, body: object) => service.post(agent, `/tasks/${id}/update`, body),
    cancel: (client: TestAgent, id: string) => service.post(client, `/tasks/${id}/cancel`),
  };
}

/** The changes in these events, in their order. */
export const changesIn = (events: readonly FeedEvent[]) =>
  events.flatMap(({ type, data }) =>
    type === 'task.updated' ? [[data.change, data.task.state, data.task.generation]] : [],
  );
