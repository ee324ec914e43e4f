import { expect, vi } from 'vitest';
import { type RestResponse } from '../../../clients/rest.ts';
import { startService, type TestAgent } from '../../../support/service.ts';

export interface SearchHit {
  thread_id: string;
  message: { id: string; content: string; sequence: number };
  snippet: string;
}

export type Query = Record<string, string | number>;

/** A service with helpers for tests of the message search. */
export async function startSearchService() {
  const service = await startService();

  async function openThread(from: TestAgent, ...to: TestAgent[]): Promise<string> {
    return (await service.post(from, '/threads', { participants: to.map(({ handle }) => handle) })).body.id;
  }

  async function send(from: TestAgent, thread: string, content: string) {
    const sent = await service.post(from, `/threads/${thread}/messages`, { content });
    expect(sent.status).toBe(201);
    return sent.body as { id: string; created_at: number };
  }

  /** Resolves when all messages are indexed. */
  async function waitUntilIndexed(): Promise<void> {
    const owed = { text: `select from outbox where job = 'deliver-messages'` };
    await vi.waitFor(async () => expect(await service.core.database.query(owed, [])).toEqual([]), 20_000);
  }

  function requestSearch({ token }: TestAgent, query: Query): Promise<RestResponse> {
    const text = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) text.set(name, String(value));
    return service.get({ token }, `/messages/search?${text.toString()}`);
  }

  async function search(agent: TestAgent, query: Query): Promise<SearchHit[]> {
    const answer = await requestSearch(agent, query);
    expect(answer.status, answer.text).toBe(200);
    return answer.body.results;
  }

  return {
    ...service,
    createAgents: (): Promise<[TestAgent, TestAgent, TestAgent]> =>
      Promise.all([service.agent(), service.agent(), service.agent()]),
    open: openThread,
    send,
    indexed: waitUntilIndexed,
    ask: requestSearch,
    search,
    searchContents: async (agent: TestAgent, query: Query) =>
      (await search(agent, query)).map(({ message }) => message.content),
  };
}
