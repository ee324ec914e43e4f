import { type Client, createClient } from '../../../packages/client/src/node/main.ts';
import type { ClientOptions } from '../../../packages/client/src/client.ts';
import type { TestAgent, TestService } from '../../support/service.ts';

/** A client of an agent. */
export function clientOf(
  service: Pick<TestService, 'url'>,
  agent: Pick<TestAgent, 'token'>,
  options: Partial<ClientOptions> = {},
): Client {
  return createClient({ url: service.url, auth: agent.token, ...options });
}

/** Two agents with their clients, and a thread between them. */
export async function startConversation(service: TestService, options: Partial<ClientOptions> = {}) {
  const [ada, bob] = await Promise.all([service.agent(), service.agent()]);
  const [asAda, asBob] = [clientOf(service, ada, options), clientOf(service, bob, options)];
  const thread = await asAda.threads.create({ with_handle: bob.handle });
  return { ada, bob, asAda, asBob, thread_id: thread.id };
}

/** Sends numbered messages, one after another. */
export async function sendNumbers(
  client: Client,
  thread_id: string,
  first: number,
  last: number,
): Promise<void> {
  for (let number = first; number <= last; number += 1) {
    await client.messages.send({ thread_id, content: String(number) });
  }
}

/** The numbers from the first to the last one. */
export function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
