import { expect, onTestFinished, test } from 'vitest';
import { startApi } from '../../../src/api.ts';
import { compose } from '../../../src/compose.ts';
import { loadConfig } from '../../../src/config.ts';
import { createLifecycle } from '../../../src/start/lifecycle.ts';
import { readAllEvents } from '../../clients/feed.ts';
import { requestRest } from '../../clients/rest.ts';
import { buildAgent, createTestSettings } from '../../support/service.ts';
import { connectWebSocket } from '../../clients/websocket.ts';

test('a stopping process writes the deliveries that it has collected', async () => {
  const settings = await createTestSettings('postgres');
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
  const socket = await connectWebSocket(api, { token: bob.token });
  const created = await requestRest('POST', `${api}/v1/threads`, { token: ann.token, body });
  expect(created.status).toBe(201);
  await socket.next(({ type }) => type === 'message.created');
  expect(await lifecycle.stop('the test is over')).toBe(true);
  await socket.closed;
  const delivered = (await readAllEvents(looking, ann)).find(({ type }) => type === 'message.delivered');
  expect(delivered?.data.members).toEqual([{ id: bob.id, canonical_handle: bob.handle, up_to_sequence: 1 }]);
});
