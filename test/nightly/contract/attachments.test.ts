import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { requestRest } from '../../clients/rest.ts';
import { sameAnswers, startBothServices } from './compare.ts';
import type { World } from './world.ts';

startBothServices();

const text = 'Order 1042 leaves on Tuesday.';

async function upload(world: World, content = text) {
  const form = new FormData();
  form.append('file', new File([content], 'order.txt', { type: 'text/plain' }));
  const body = new Response(form);
  const headers = { 'Content-Type': body.headers.get('content-type') ?? '' };
  const raw = new Uint8Array(await body.arrayBuffer());
  return world.request('ann', 'POST', '/v1/attachments', { raw, headers });
}

async function untilScanned(world: World, token: string, id: string): Promise<void> {
  const url = `${world.url}/v1/attachments/${id}`;
  await expect
    .poll(async () => (await requestRest('GET', url, { token })).body.scan_status)
    .not.toBe('pending');
}

sameAnswers('a file is uploaded, sent and downloaded', async (world) => {
  const { token } = await world.agent('ann');
  await world.agent('bob');
  await world.agent('cleo');
  const { body } = await upload(world);
  await untilScanned(world, token, body.id);
  await world.request('ann', 'GET', `/v1/attachments/${body.id}`);
  await world.request('bob', 'GET', `/v1/attachments/${body.id}`);
  const created = await world.request('ann', 'POST', '/v1/threads', {
    body: { with_handle: world.handle('bob') },
  });
  const messages = `/v1/threads/${created.body.id}/messages`;
  const message = { content: '', attachment_ids: [body.id] };
  await world.request('bob', 'POST', messages, { body: message });
  await world.request('ann', 'POST', messages, { body: message });
  await world.request('ann', 'POST', messages, { body: message });
  await world.request('bob', 'GET', `/v1/attachments/${body.id}`);
  await world.request('cleo', 'GET', `/v1/attachments/${body.id}`);
  const { headers } = await world.request('bob', 'GET', `/v1/attachments/${body.id}/content`);
  // The real service names its public address, which is not the one that it listens on.
  const place = new URL(headers.get('location') ?? '');
  const file = await fetch(`${world.url}${place.pathname}${place.search}`);
  world.note([file.status, await file.text(), file.headers.get('content-type')]);
  await world.events('bob', 2);
});

sameAnswers('a direct upload is completed', async (world) => {
  const { token } = await world.agent('ann');
  const size = Buffer.byteLength(text);
  const sha256 = createHash('sha256').update(text).digest('hex');
  const file = { filename: 'order.txt', content_type: 'text/plain', size, sha256 };
  const requested = await requestRest('POST', `${world.url}/v1/attachments/uploads`, { token, body: file });
  world.note(requested.status);
  const { attachment_id, upload: target } = requested.body;
  await world.request('ann', 'POST', `/v1/attachments/${attachment_id}/complete`);
  const place = new URL(target.url);
  const put = await fetch(`${world.url}${place.pathname}${place.search}`, {
    method: 'PUT',
    headers: target.headers,
    body: text,
  });
  world.note(put.ok);
  await world.request('ann', 'POST', `/v1/attachments/${attachment_id}/complete`);
  await untilScanned(world, token, attachment_id);
  await world.request('ann', 'POST', `/v1/attachments/${attachment_id}/complete`);
});

sameAnswers('an empty body and a body of another type are refused', async (world) => {
  await world.agent('ann');
  await world.request('ann', 'POST', '/v1/attachments', { body: { file: 'x' } });
  await upload(world, '');
});
