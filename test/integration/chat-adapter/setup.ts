import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { createMockState } from '@chat-adapter/tests';
import { Chat } from 'chat';
import { onTestFinished } from 'vitest';
import { createAgentMessagingAdapter } from '../../../packages/chat-adapter/src/main.ts';
import { createClient } from '../../../packages/client/src/main.ts';
import { scopes } from '../../../packages/core/src/domain/auth/scopes.ts';
import type { Core } from '../../../src/compose.ts';
import { buildAgent } from '../../support/service.ts';
import { listen } from '../../support/servers/listen.ts';

interface Service {
  url: string;
  core: Core;
}

/** A bot of the SDK that receives the webhooks of its agent on a free port, until the test ends. */
export async function startBot(service: Service) {
  const agent = await buildAgent(service.core, { scopes });
  const client = createClient({ url: service.url, auth: agent.token });
  const statuses: number[] = [];
  const server = createServer((incoming, response) => void receive(incoming, response));
  const { url, close } = await listen(server);
  const { secret } = await client.webhooks.create({
    url,
    event_types: ['message.created'],
  });
  const adapter = createAgentMessagingAdapter({
    url: service.url,
    auth: agent.token,
    webhookSecret: secret,
  });
  const chat = new Chat({
    userName: 'bot',
    adapters: { ams: adapter },
    state: createMockState(),
    concurrency: 'queue',
    logger: 'silent',
  });
  await chat.initialize();

  async function receive(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readText(incoming);
    const headers = incoming.headers as Record<string, string>;
    const request = new Request('http://bot.test/', { method: 'POST', headers, body });
    const { status } = await chat.webhooks.ams(request);
    statuses.push(status);
    response.writeHead(status).end();
  }
  onTestFinished(async () => {
    await chat.shutdown();
    await close();
  });
  return { agent, client, adapter, chat, secret, statuses };
}
