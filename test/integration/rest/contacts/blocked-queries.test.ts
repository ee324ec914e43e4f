import pg from 'pg';
import { expect, test } from 'vitest';
import { requestRest } from '../../../clients/rest.ts';
import { useService } from '../../../support/service.ts';

const service = useService({ worker: false, env: { DATABASE_LOCK_SECONDS: '1' } });

test('a call that waits too long for a lock gets 503 and succeeds when it is retried', async () => {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const body = { with_handle: bob.handle, initial_message: 'one' };
  const { token } = ann;
  const thread = await service.post({ token }, '/threads', body);
  const holder = new pg.Client({ connectionString: service.core.config.DATABASE_URL });
  await holder.connect();
  const message = { token, key: 'the-same-key', body: { content: 'two' } };
  const send = () => requestRest('POST', `${service.api}/threads/${thread.body.id}/messages`, message);
  try {
    await holder.query('begin');
    await holder.query('select 1 from threads where id = $1 for update', [thread.body.id]);
    const refused = await send();
    expect(refused).toMatchObject({ status: 503, body: { error: { code: 'UNAVAILABLE' } } });
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  } finally {
    await holder.end();
  }
  expect(await send()).toMatchObject({ status: 201, body: { sequence: 2 } });
});
