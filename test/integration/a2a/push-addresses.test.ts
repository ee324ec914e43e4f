import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import type { Core } from '../../../src/compose.ts';
import { createWebhookSender } from '../../../src/platform/outbound/webhook-sender.ts';
import { a2aAddress, createA2aClient, toA2aMessage } from '../../clients/a2a.ts';
import { createFakeDns } from '../../support/servers/fake-dns.ts';
import { useService } from '../../support/service.ts';
import { now, passUntilNextAttempt, sendDue } from './push-setup.ts';
import { listen } from '../../support/servers/listen.ts';
import { stopAfterTest } from '../../support/use.ts';

// One address of this machine stands for the public ones.
const service = useService({ worker: false, env: { WEBHOOK_NETWORKS: '127.0.0.1/32' } });

/** A server at all addresses of this machine. It keeps no connection, so that every request looks up its name. */
async function startServer() {
  const called: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(204, { Connection: 'close' }).end());
  });
  server.on('connection', (socket) => called.push(socket.localAddress));
  const { port } = stopAfterTest(await listen(server, '0.0.0.0'));
  return { called, port };
}

test('a name that leads to a private address after its config was stored is not called', async () => {
  const { called, port } = await startServer();
  const dns = createFakeDns(['127.0.0.1']);
  const networks = service.core.config.WEBHOOK_NETWORKS;
  const webhookSender = createWebhookSender({
    networks,
    timeoutMs: 5_000,
    userAgent: 'test',
    lookup: dns.lookup,
  });
  onTestFinished(() => webhookSender.close());
  const core: Core = { ...service.core, settings: { ...service.core.settings, webhookSender } };
  const [ann, bob] = [await service.agent(), await service.agent()];
  const client = createA2aClient('JSONRPC', a2aAddress(service.url, bob.handle), ann.token);
  const taskPushNotificationConfig = { id: 'mine', url: `http://receiver.test:${port}/updates` };
  const configuration = { ...now, taskPushNotificationConfig };
  const sent = await client.call('SendMessage', { message: toA2aMessage('When?'), configuration });
  const { id } = sent.result.task;
  const report = (message: string) => service.post(bob, `/tasks/${id}/update`, { state: 'working', message });
  const failure = async () => (await core.db.pushConfigs.find(id, 'mine'))?.last_error;
  await report('One');
  await sendDue(core);
  expect([called, await failure()]).toEqual([['127.0.0.1'], null]);

  await report('Two');
  for (const address of ['127.0.0.2', '::ffff:127.0.0.2', '::1', '10.0.0.1', '169.254.169.254']) {
    dns.setAddresses(address);
    await passUntilNextAttempt(core, id);
    const looks = dns.names.length;
    await sendDue(core);
    expect([address, dns.names.length, await failure()]).toEqual([address, looks + 1, 'connection_refused']);
  }
  expect(called).toHaveLength(1);
  dns.setAddresses('10.0.0.1', '127.0.0.1');
  await passUntilNextAttempt(core, id);
  await sendDue(core);
  expect([called, await failure()]).toEqual([['127.0.0.1', '127.0.0.1'], null]);
});
