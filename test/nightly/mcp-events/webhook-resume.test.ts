import { expect, onTestFinished, test } from 'vitest';
import { startWorker } from '../../../workers/start.ts';
import { compose } from '../../../src/compose.ts';
import { createLifecycle } from '../../../src/start/lifecycle.ts';
import { fastPacing, waitUntil } from '../../integration/webhooks/setup.ts';
import { useEventWebhooks } from '../../integration/mcp/events/webhook-setup.ts';

const service = useEventWebhooks();
const count = 200;

test('a receiver that fails, breaks its connections and dies misses nothing, with two workers', async () => {
  const { token, say } = await service.pair();
  const { params } = service.target();
  const lifecycle = createLifecycle(service.core.logger);
  await startWorker(compose(service.core.config, 'second-worker'), lifecycle, fastPacing);
  onTestFinished(async () => void (await lifecycle.stop('the test is over')));
  const { id } = await service.subscribe(token, params);
  const { state } = service.receiver;
  const before = state.answer;
  onTestFinished(() => {
    state.answer = before;
  });
  const accepted: string[] = [];
  state.answer = (response, { json }) => {
    const luck = Math.random();
    if (luck < 0.05) response.writeHead(503).end();
    else if (luck < 0.1) response.destroy();
    else {
      accepted.push(json.data?.content ?? json.type);
      // It has the event, and dies before it answers.
      if (luck < 0.15) response.destroy();
      else response.writeHead(200).end();
    }
  };
  for (let n = 0; n < count; n += 10)
    await Promise.all(Array.from({ length: 10 }, (_, index) => say(`${n + index}`)));
  await waitUntil(async () => {
    // A client renews its subscription now and then.
    if (!(await service.row(id)).active) await service.subscribe(token, params);
    return new Set(accepted).size;
  }).toBe(count);
  expect(accepted).not.toContain('gap');
  const sent = await service.query(
    `select m.content from feed f join events e on e.id = f.event_id join messages m on m.id = e.message_id
     where f.agent_id = (select agent_id from event_subscriptions where id = $1) and e.type = 'message.created' order by f.number`,
    [id],
  );
  expect([...new Set(accepted)]).toEqual(sent.map((row) => Object(row).content));
});
