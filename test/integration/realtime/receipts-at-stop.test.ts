import { expect, onTestFinished, test, vi } from 'vitest';
import { startApi } from '../../../src/api.ts';
import { compose } from '../../../src/compose.ts';
import { loadConfig } from '../../../src/config.ts';
import { createLifecycle } from '../../../src/platform/lifecycle.ts';
import { allEventsOf } from '../../support/feed.ts';
import { rest } from '../../support/rest-client.ts';
import { buildAgent, testSettings } from '../../support/service.ts';
import { connect } from '../../support/ws-client.ts';

vi.setConfig({ testTimeout: 60_000 });

test('a process that stops writes what it has delivered until then', async () => {
  const settings = await testSettings('postgres');
  const config = loadConfig(settings.env);
  const [stopping, looking] = [compose(config, 'stopping'), compose(config, 'looking')];
  onTestFinished(async () => {
    await looking.close();
    await settings.release();
  });
  const lifecycle = createLifecycle(stopping.logger);
  const { port } = await startApi(stopping, lifecycle);
  const api = `http://127.0.0.1:${port}`;
  const [ann, bob] = await Promise.all([buildAgent(looking), buildAgent(looking)]);
  const body = { participants: [bob.handle], initial_message: 'goodbye' };
  const socket = await connect(api, { token: bob.token });
  const made = await rest('POST', `${api}/v1/threads`, { token: ann.token, body });
  expect(made.status).toBe(201);
  await socket.next(({ type }) => type === 'message.created');
  expect(await lifecycle.stop('the test says so')).toBe(true);
  await socket.closed;
  const delivered = (await allEventsOf(looking, ann)).find(({ type }) => type === 'message.delivered');
  expect(delivered?.data.members).toEqual([{ id: bob.id, canonical_handle: bob.handle, up_to_sequence: 1 }]);
});
