import { mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeAll, expect, test, vi } from 'vitest';
import { attachmentsRepository } from '../../../src/repositories/attachments/attachments.ts';
import { expireUploads, sweepBlobs } from '../../../workers/maintenance/file-retention.ts';
import { ownerKey } from '../../../src/start/store-owner.ts';
import type { TestAgent } from '../../support/service.ts';
import {
  fetchContent,
  newIdempotencyKey,
  openThread,
  sendMessage,
  sampleText,
  startAttachmentService,
  upload,
  uploadId,
} from './setup.ts';
import { override } from '../../support/override.ts';
import { use } from '../../support/use.ts';

const service = use(() => startAttachmentService({ worker: false, env: { LOG_LEVEL: 'silent', ...limits } }));
let ada: TestAgent;
let bob: TestAgent;
let thread: string;

const limits = { RATE_LIMITS: 'unsent_uploads=10/86400,default=10000/60' };
beforeAll(async () => {
  [ada, bob] = [await service.agent(), await service.agent()];
  thread = await openThread(service, ada, bob);
});

const keyOf = async (id: string): Promise<string> =>
  (await service.core.db.attachments.find(id))?.storage_key ?? '';

const stored = async (): Promise<string[]> =>
  (await service.core.blobs.list('', 1_000)).map(({ key }) => key);

/** Makes the attachment two days older. */
async function age(id: string): Promise<void> {
  const days = 2 * 24 * 3_600_000;
  const text = `update attachments set created_at = created_at - $2, expires_at = expires_at - $2 where id = $1`;
  await service.sql(text, [id, days]);
  const key = await keyOf(id);
  if ((await stored()).includes(key)) await ageBlob(key);
}

async function ageBlob(key: string): Promise<void> {
  const then = new Date(Date.now() - 2 * 24 * 3_600_000);
  await utimes(join(service.folder, 'blobs', key.slice(0, 2), key.slice(2, 4), key), then, then);
}

const statusOf = async (id: string): Promise<number> => (await service.get(ada, `/attachments/${id}`)).status;

test('an upload that is not sent within a day is removed, and cannot be sent after it expires', async () => {
  const [late, sent, young] = [
    await uploadId(service, ada),
    await uploadId(service, ada),
    await uploadId(service, ada),
  ];
  expect((await sendMessage(service, ada, thread, [sent])).status).toBe(201);
  await age(late);
  await age(sent);
  expect(await statusOf(late)).toBe(404);
  const refused = await sendMessage(service, ada, thread, [late]);
  expect(refused).toMatchObject({ status: 404, body: { error: { code: 'ATTACHMENT_NOT_FOUND' } } });
  const keys = { late: await keyOf(late), sent: await keyOf(sent), young: await keyOf(young) };
  await expireUploads(service.core);
  await expireUploads(service.core);
  expect(await service.core.db.attachments.find(late)).toBeUndefined();
  expect([await statusOf(late), await statusOf(sent), await statusOf(young)]).toEqual([404, 200, 200]);
  const left = await stored();
  expect(left).not.toContain(keys.late);
  expect(left).toEqual(expect.arrayContaining([keys.sent, keys.young]));
});

test('an announced upload without a file is removed', async () => {
  const { body } = await service.post(ada, '/attachments/uploads', {
    filename: 'a.txt',
    content_type: 'text/plain',
    size: 5,
  });
  const text = 'update uploads set expires_at = 1 where id = $1 returning storage_key';
  await service.sql(text, [body.attachment_id]);
  await expireUploads(service.core);
  expect(await service.core.db.uploads.find(body.attachment_id, ada.id)).toBeUndefined();
});

test('the expiry completes after a crash between the row and the bytes', async () => {
  await uploadId(service, bob);
  const id = await uploadId(service, ada);
  await age(id);
  const key = await keyOf(id);
  const remove = () => Promise.reject(new Error('killed'));
  const dying = { ...service.core, blobs: { ...service.core.blobs, remove } };
  await expect(expireUploads(dying)).rejects.toThrow('killed');
  expect(await stored()).toContain(key);
  await sweepBlobs(service.core);
  expect(await stored()).not.toContain(key);
});

test('only bytes without a row are removed, once they are old enough', async () => {
  const kept = await keyOf(await uploadId(service, ada));
  const [old, young] = [newIdempotencyKey(), newIdempotencyKey()];
  for (const key of [old, young]) await service.core.blobs.write(key, one());
  await ageBlob(old);
  await ageBlob(kept);
  await sweepBlobs(service.core);
  await sweepBlobs(service.core);
  const left = await stored();
  expect(left).not.toContain(old);
  expect(left).toEqual(expect.arrayContaining([kept, young]));
});

test('files whose bytes are missing are logged, also in another store, and are served when the bytes return', async () => {
  const [lost, kept] = [await uploadId(service, ada), await uploadId(service, ada)];
  for (const id of [lost, kept]) {
    await service.core.db.attachments.setScan(id, { scan_status: 'clean', scanned_by: 'test' });
    expect((await sendMessage(service, ada, thread, [id])).status).toBe(201);
    await age(id);
  }
  const key = await keyOf(lost);
  const { blobs, logger } = service.core;
  const sweep = async (list = blobs.list) => {
    const error = vi.fn();
    await sweepBlobs({ ...service.core, blobs: { ...blobs, list }, logger: { ...logger, error } });
    return error.mock.calls.flatMap(([{ attachments }]) => attachments);
  };
  expect(await sweep()).toEqual([]);
  const all = await sweep(() => Promise.resolve([]));
  expect(all).toEqual(expect.arrayContaining([lost, kept]));
  await blobs.remove(key);
  expect(await sweep()).toEqual([lost]);
  const read = async () => (await fetchContent(service, bob, lost)).status;
  expect(await read()).toBe(404);
  await blobs.write(key, Readable.from([sampleText]));
  expect(await sweep()).toEqual([]);
  expect(await read()).toBe(200);
});

test('nothing is removed from a store of which this database knows no file', async () => {
  const { blobs } = service.core;
  const key = newIdempotencyKey();
  await blobs.write(key, one());
  await ageBlob(key);
  const attachments = { ...service.core.db.attachments, findKeys: () => Promise.resolve(new Set<string>()) };
  await blobs.remove(ownerKey);
  await sweepBlobs({ ...service.core, db: override(service.core.db, { attachments }) });
  expect(await stored()).toContain(key);
});

test('nothing is removed from a store that another database has marked', async () => {
  const key = newIdempotencyKey();
  const { blobs } = service.core;
  await uploadId(service, bob);
  await blobs.write(key, one());
  await ageBlob(key);
  await blobs.write(ownerKey, Readable.from([Buffer.from('another database')]));
  await expect(sweepBlobs(service.core)).rejects.toThrow('files belong to the database another database');
  expect(await stored()).toContain(key);
  // What an operator does after a restore.
  await blobs.remove(ownerKey);
  await sweepBlobs(service.core);
  expect(await stored()).not.toContain(key);
  await ageBlob(ownerKey);
  await sweepBlobs(service.core);
  expect(await stored()).toContain(ownerKey);
});

test('a missing folder changes nothing', async () => {
  const id = await uploadId(service, ada);
  await age(id);
  await rm(join(service.folder, 'blobs'), { recursive: true });
  await sweepBlobs(service.core);
  expect((await service.core.db.attachments.find(id))?.scan_status).toBe('pending');
});

test('a file is not removed while it is sent, and not sent while it is removed', async () => {
  const { database, db } = service.core;
  const tomorrow = Date.now() + 2 * 24 * 3_600_000;
  const waiting = async () => {
    const text = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    return (await database.query({ text }, [])).length;
  };
  const wait = (count: number) => expect.poll(waiting).toBe(count);
  const id = await uploadId(service, ada);
  // The commit of the message waits for the lock on the feed of bob.
  const feed = await database.begin();
  await feed.query({ text: 'select from feed_heads where agent_id = $1 for update' }, [bob.id]);
  const sent = sendMessage(service, ada, thread, [id]);
  await wait(1);
  const key = await keyOf(id);
  expect(await db.attachments.removeExpired(tomorrow, 1_000)).not.toContain(key);
  await feed.commit();
  expect((await sent).status).toBe(201);
  expect(await statusOf(id)).toBe(200);

  const late = await uploadId(service, ada);
  const expiry = await database.begin();
  const removed = await attachmentsRepository(expiry).removeExpired(tomorrow, 1_000);
  expect(removed).toContain(await keyOf(late));
  const refused = sendMessage(service, ada, thread, [late]);
  await wait(1);
  await expiry.commit();
  expect(await refused).toMatchObject({ status: 404, body: { error: { code: 'ATTACHMENT_NOT_FOUND' } } });
});

test('the number of unsent files per agent is limited', async () => {
  const eve = await service.agent();
  const ours = await openThread(service, eve, bob);
  const token = eve.token;
  const promise = () =>
    service.post({ token }, '/attachments/uploads', {
      filename: 'a.txt',
      content_type: 'text/plain',
      size: 5,
    });
  expect((await promise()).status).toBe(201);
  const first = await upload(service, eve, { bytes: sampleText, key: 'first' });
  const more = await Promise.all(Array.from({ length: 8 }, () => uploadId(service, eve)));
  const before = (await stored()).length;
  for (const refused of [await upload(service, eve, { bytes: sampleText }), await promise()]) {
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'RATE_LIMITED' } } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  // A repeated key gets the first response again.
  expect(await upload(service, eve, { bytes: sampleText, key: 'first' })).toMatchObject({
    status: 201,
    text: first.text,
  });
  expect(await stored()).toHaveLength(before);
  expect((await upload(service, bob, { bytes: sampleText })).status).toBe(201);
  expect((await sendMessage(service, eve, ours, more.slice(0, 5))).status).toBe(201);
  expect((await upload(service, eve, { bytes: sampleText })).status).toBe(201);
});

test('an API that starts removes old drafts of its machine, where no maintenance runs', async () => {
  const drafts = join(service.folder, 'killed', 'blobs', 'drafts');
  await mkdir(drafts, { recursive: true });
  for (const name of ['old', 'young']) await writeFile(join(drafts, name), 'half a file');
  const then = new Date(Date.now() - 2 * 3_600_000);
  await utimes(join(drafts, 'old'), then, then);
  const env = { DATA_DIR: join(service.folder, 'killed'), LOG_LEVEL: 'silent' };
  const { stop } = await startAttachmentService({ worker: false, env });
  await expect.poll(() => readdir(drafts)).toEqual(['young']);
  await stop();
});

async function* one(): AsyncGenerator<Buffer> {
  yield Buffer.from('unknown');
}
