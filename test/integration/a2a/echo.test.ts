import { expect, test } from 'vitest';
import { a2aAddress, createA2aClient, reasonOf, toA2aMessage } from '../../clients/a2a.ts';
import { startService, useService } from '../../support/service.ts';

const service = useService();

test('the echo agent answers a first question without preparation', async () => {
  const ann = await service.agent();
  const address = a2aAddress(service.url, 'ams.echo');
  const message = toA2aMessage('Is anyone here?');
  const { result } = await createA2aClient('HTTP+JSON', address, ann.token).call('SendMessage', { message });
  expect(result.task.artifacts[0].parts[0].text).toContain('Is anyone here?');
  const card = await fetch(`${address}/.well-known/agent-card.json`);
  expect(await card.json()).toMatchObject({ name: 'Echo' });
});

test('a service without the echo agent has neither its card nor its answers', async () => {
  const plain = await startService({ env: { ECHO_AGENT: 'false' }, worker: false });
  try {
    const { token } = await plain.agent();
    const address = a2aAddress(plain.url, 'ams.echo');
    expect((await fetch(`${address}/.well-known/agent-card.json`)).status).toBe(404);
    const sent = await createA2aClient('JSONRPC', address, token).call('SendMessage', {
      message: toA2aMessage('x'),
    });
    expect(reasonOf(sent)).toBe('AGENT_NOT_FOUND');
  } finally {
    await plain.stop();
  }
});
