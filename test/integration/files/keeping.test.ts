import { rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expireUploads, sweepBlobs } from '../../../workers/file-keeping.ts';
import { rest } from '../../support/rest-client.ts';
import type { TestAgent } from '../../support/service.ts';
import { type FileService, newKey, openThread, send, startFiles, uploaded } from './house.ts';

let service: FileService;
let ada: TestAgent;
let thread: string;

beforeAll(async () => {
  service = await startFiles({ worker: false, env: { LOG_LEVEL: 'silent' } });
  ada = await service.agent();
  thread = await openThread(service, ada, await service.agent());
});
afterAll(() => service.stop());

const keyOf = async (id: string): Promise<string> =>
  (await service.core.repositories.attachments.find(id))?.storage_key ?? '';

const stored = async (): Promise<string[]> =>
  (await service.core.blobs.list('', 1_000)).map(({ key }) => key);

/** As if it had been there for two days. */
async function age(id: string): Promise<void> {
  const days = 2 * 24 * 3_600_000;
  const text = `update attachments set created_at = created_at - $2, expires_at = expires_at - $2 where id = $1`;
  await service.core.database.query({ text }, [id, days]);
  const key = await keyOf(id);
  if ((await stored()).includes(key)) await ageBlob(key);
}

async function ageBlob(key: string): Promise<void> {
  const then = new Date(Date.now() - 2 * 24 * 3_600_000);
  await utimes(join(service.folder, 'blobs', key.slice(0, 2), key.slice(2, 4), key), then, then);
}

const statusOf = async (id: string): Promise<number> =>
  (await rest('GET', `${service.api}/attachments/${id}`, { token: ada.token })).status;

test('an upload that is not sent within a day goes away, and cannot be sent meanwhile', async () => {
  const [late, sent, young] = [
    await uploaded(service, ada),
    await uploaded(service, ada),
    await uploaded(service, ada),
  ];
  expect((await send(service, ada, thread, [sent])).status).toBe(201);
  await age(late);
  await age(sent);
  expect(await statusOf(late)).toBe(404);
  const refused = await send(service, ada, thread, [late]);
  expect(refused).toMatchObject({ status: 404, body: { error: { code: 'ATTACHMENT_NOT_FOUND' } } });
  const keys = { late: await keyOf(late), sent: await keyOf(sent), young: await keyOf(young) };
  await expireUploads(service.core);
  await expireUploads(service.core);
  expect(await service.core.repositories.attachments.find(late)).toBeUndefined();
  expect([await statusOf(late), await statusOf(sent), await statusOf(young)]).toEqual([404, 200, 200]);
  const left = await stored();
  expect(left).not.toContain(keys.late);
  expect(left).toEqual(expect.arrayContaining([keys.sent, keys.young]));
});

test('a promised upload that never came goes away', async () => {
  const { body } = await rest('POST', `${service.api}/attachments/uploads`, {
    token: ada.token,
    body: { filename: 'a.txt', content_type: 'text/plain', size: 5 },
  });
  const text = 'update uploads set expires_at = 1 where id = $1 returning storage_key';
  await service.core.database.query({ text }, [body.attachment_id]);
  await expireUploads(service.core);
  expect(await service.core.repositories.uploads.find(body.attachment_id, ada.id)).toBeUndefined();
});

test('the expiry is made good when it was killed between row and bytes', async () => {
  const id = await uploaded(service, ada);
  await age(id);
  const key = await keyOf(id);
  const remove = () => Promise.reject(new Error('killed'));
  const dying = { ...service.core, blobs: { ...service.core.blobs, remove } };
  await expect(expireUploads(dying)).rejects.toThrow('killed');
  expect(await stored()).toContain(key);
  await sweepBlobs(service.core);
  expect(await stored()).not.toContain(key);
});

test('bytes without a row are removed once they are old enough, and nothing else is', async () => {
  const kept = await keyOf(await uploaded(service, ada));
  const [old, young] = [newKey(), newKey()];
  for (const key of [old, young]) await service.core.blobs.write(key, one());
  await ageBlob(old);
  await ageBlob(kept);
  await sweepBlobs(service.core);
  await sweepBlobs(service.core);
  const left = await stored();
  expect(left).not.toContain(old);
  expect(left).toEqual(expect.arrayContaining([kept, young]));
});

test('a file whose bytes are lost is served no more; a store that is empty is not believed', async () => {
  const [lost, kept] = [await uploaded(service, ada), await uploaded(service, ada)];
  for (const id of [lost, kept]) {
    await service.core.repositories.attachments.setScan(id, { scan_status: 'clean', scanned_by: 'nobody' });
    expect((await send(service, ada, thread, [id])).status).toBe(201);
    await age(id);
  }
  const status = async (id: string) => (await service.core.repositories.attachments.find(id))?.scan_status;
  const list = () => Promise.resolve([]);
  await sweepBlobs({ ...service.core, blobs: { ...service.core.blobs, list } });
  expect([await status(lost), await status(kept)]).toEqual(['clean', 'clean']);
  await service.core.blobs.remove(await keyOf(lost));
  await sweepBlobs(service.core);
  expect([await status(lost), await status(kept)]).toEqual(['failed', 'clean']);
});

test('a folder that is away changes nothing', async () => {
  const id = await uploaded(service, ada);
  await age(id);
  await rm(join(service.folder, 'blobs'), { recursive: true });
  await sweepBlobs(service.core);
  expect((await service.core.repositories.attachments.find(id))?.scan_status).toBe('pending');
});

async function* one(): AsyncGenerator<Buffer> {
  yield Buffer.from('nobody knows it');
}
