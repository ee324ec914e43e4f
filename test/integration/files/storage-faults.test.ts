import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { attachmentScanningHandler } from '../../../workers/attachment-scanning.ts';
import { sweepBlobs } from '../../../workers/file-keeping.ts';
import { type Deed, faultyS3, type Plan, planned } from '../../support/faulty-s3.ts';
import { httpProxy } from '../../support/http-proxy.ts';
import { describeUnless } from '../../support/leave-out.ts';
import { rest } from '../../support/rest-client.ts';
import { missingS3, testBucket } from '../../support/s3.ts';
import type { TestAgent } from '../../support/service.ts';
import {
  fetchContent,
  type FileService,
  reachable,
  someText,
  startFiles,
  upload,
  uploaded,
} from './house.ts';

const quiet = { LOG_LEVEL: 'silent' };

/** Refused clearly. */
async function expectUnavailable(service: FileService, agent: TestAgent, bytes: Buffer): Promise<void> {
  const answer = await upload(service, agent, { bytes, type: null });
  expect(answer).toMatchObject({ status: 503, body: { error: { code: 'UNAVAILABLE' } } });
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await recordsOf(service, agent)).toEqual([]);
}

function recordsOf({ core }: FileService, { id }: TestAgent): Promise<object[]> {
  return core.database.query({ text: 'select id from attachments where uploader_id = $1' }, [id]);
}

describe('a store that is ill', () => {
  let store: Awaited<ReturnType<typeof faultyS3>>;
  let service: FileService;
  beforeAll(async () => {
    store = await faultyS3();
    service = await startFiles({ worker: false, env: { ...quiet, ...store.env } });
  });
  afterAll(async () => {
    await service.stop();
    await store.close();
  });

  const scan = (id: string) => attachmentScanningHandler(service.core).handle({ ids: [id] });
  const statusOf = async (id: string) => (await service.core.repositories.attachments.find(id))?.scan_status;
  const days = 24 * 3_600_000;

  describe.concurrent('for good', () => {
    test.each<[Deed, number]>([
      [500, 3],
      [503, 3],
      ['cut', 3],
      ['hang', 3],
      [403, 1],
      [404, 1],
    ])('(%s) is unavailable, after %i tries', async (deed, tries) => {
      const bytes = planned({ PUT: [deed] });
      await expectUnavailable(service, await service.agent(), bytes);
      expect(store.tries('PUT', bytes)).toBe(tries);
    });

    test('(it does what it is told, and never says so) is unavailable; what it got is swept away', async () => {
      const bytes = planned({ PUT: ['lost'] });
      await expectUnavailable(service, await service.agent(), bytes);
      for (const orphan of store.copies(bytes)) orphan.at -= 2 * days;
      expect(store.copies(bytes)).toHaveLength(1);
      await sweepBlobs(service.core);
      expect(store.copies(bytes)).toEqual([]);
    });
  });

  describe.concurrent('now and then', () => {
    test.each<[string, Plan]>([
      ['takes nothing at first', { PUT: [500, 503, 'do'] }],
      ['hangs up, then hangs', { PUT: ['cut', 'hang', 'do'] }],
      ['takes it and does not say so', { PUT: ['lost', 'do'] }],
      ['gives nothing at first', { GET: [500, 'cut', 'do'] }],
      ['is silent at first', { GET: ['hang', 'do'] }],
    ])('(%s) is made good: nothing is lost, nothing is there twice', async (_, plan) => {
      const ada = await service.agent();
      const bytes = planned(plan);
      const id = await uploaded(service, ada, { bytes, type: null });
      expect(store.copies(bytes)).toHaveLength(1);
      await scan(id);
      expect(await statusOf(id)).toBe('clean');
      const content = await fetchContent(service, ada, id);
      expect(Buffer.from(await content.arrayBuffer()).equals(bytes)).toBe(true);
    });

    test.each<Deed>(['half', 'stuck'])('(%s of the bytes) condemns no file', async (deed) => {
      const ada = await service.agent();
      const id = await uploaded(service, ada, { bytes: planned({ GET: [deed, 'do'] }), type: null });
      await expect(scan(id)).rejects.toThrow('not scanned');
      expect(await statusOf(id)).toBe('pending');
      await scan(id);
      expect(await statusOf(id)).toBe('clean');
    });

    test('(half of the bytes) is never taken for all of them', async () => {
      const ada = await service.agent();
      const bytes = planned({ GET: ['do', 'half', 'stuck', 500, 500, 500, 'do'] });
      const id = await uploaded(service, ada, { bytes, type: null });
      await service.core.repositories.attachments.setScan(id, { scan_status: 'clean', scanned_by: 'nobody' });
      expect((await fetchContent(service, ada, id)).status).toBe(200);
      for (let cut = 0; cut < 2; cut += 1) {
        const content = await fetchContent(service, ada, id);
        await expect(content.arrayBuffer()).rejects.toThrow();
      }
      const failed = await fetchContent(service, ada, id);
      expect([failed.status, (await failed.json()).error.code]).toEqual([503, 'UNAVAILABLE']);
      const content = await fetchContent(service, ada, id);
      expect(Buffer.from(await content.arrayBuffer()).equals(bytes)).toBe(true);
    });

    test('(cannot remove) leaves what one key has brought twice to the sweep', async () => {
      const ada = await service.agent();
      const bytes = planned({ DELETE: [500, 500, 500, 'do'] });
      const key = 'the-same';
      const first = await upload(service, ada, { bytes, type: null, key });
      const again = await upload(service, ada, { bytes, type: null, key });
      expect([again.status, again.text]).toEqual([201, first.text]);
      expect(store.copies(bytes)).toHaveLength(2);
      for (const object of store.copies(bytes)) object.at -= 2 * days;
      await sweepBlobs(service.core);
      expect(store.copies(bytes)).toHaveLength(1);
      await scan(first.body.id);
      expect(await statusOf(first.body.id)).toBe('clean');
    });

    test('(loses an upload on its way to its own place) completes it later', async () => {
      const ada = await service.agent();
      const bytes = planned({ GET: ['half', 'do'], PUT: ['do', 500, 500, 500, 'do'] });
      const asked = { filename: 'a.json', content_type: 'application/json', size: bytes.length };
      const token = ada.token;
      const { body } = await rest('POST', `${service.api}/attachments/uploads`, { token, body: asked });
      const { url, headers } = body.upload;
      const put = await fetch(reachable(service, url), {
        method: 'PUT',
        headers,
        body: new Uint8Array(bytes),
      });
      expect(put.status).toBe(200);
      const complete = () =>
        rest('POST', `${service.api}/attachments/${body.attachment_id}/complete`, { token });
      expect(await complete()).toMatchObject({ status: 503, body: { error: { code: 'UNAVAILABLE' } } });
      expect(await complete()).toMatchObject({ status: 200, body: { id: body.attachment_id } });
    });
  });

  test('that cannot list removes nothing, and that lists what is not ours touches it not', async () => {
    const ada = await service.agent();
    const id = await uploaded(service, ada);
    const others = ['attachments/README', 'attachments/0/of-others', 'elsewhere/ab'];
    for (const key of others) store.objects.set(key, { bytes: someText, at: 0 });
    const before = store.objects.size;
    store.listing.deed = 500;
    await expect(sweepBlobs(service.core)).rejects.toThrow();
    store.listing.deed = 'do';
    await sweepBlobs(service.core);
    expect(store.objects.size).toBe(before);
    expect(await service.core.blobs.list('', 1)).toHaveLength(1);
    expect(await statusOf(id)).toBe('pending');
    // Whatever happened in this file, nothing of it is left on this side.
    expect(await readdir(join(service.folder, 'drafts'))).toEqual([]);
  });
});

test('a folder that cannot be written is unavailable, and works again once it can', async () => {
  const service = await startFiles({ worker: false, env: quiet });
  onTestFinished(() => service.stop().then(() => undefined));
  const ada = await service.agent();
  // As a disk that is not mounted, or has no room: nobody can make a file there, not even root.
  const blobs = join(service.folder, 'blobs');
  await writeFile(blobs, '');
  await expectUnavailable(service, ada, someText);
  await rm(blobs);
  const id = await uploaded(service, ada);
  await attachmentScanningHandler(service.core).handle({ ids: [id] });
  const { headers } = await rest('GET', `${service.api}/attachments/${id}/content`, { token: ada.token });
  const address = reachable(service, headers.get('location') ?? '');
  await rm(blobs, { recursive: true });
  const away = await fetch(address);
  expect([away.status, (await away.json()).error.code]).toEqual([503, 'UNAVAILABLE']);
});

describeUnless(missingS3, 'a real S3 server', () => {
  test('with a wrong secret, without the bucket, or now and then away is as clear', async () => {
    const bucket = await testBucket();
    onTestFinished(() => bucket.remove());
    let asked = 0;
    const faults = ['cut', 500, 'pass'] as const;
    const proxy = await httpProxy(bucket.env.S3_ENDPOINT, () => faults[(asked += 1) % 3] ?? 'pass');
    onTestFinished(() => proxy.close());
    const [secret, none, shaky] = await Promise.all(
      [{ S3_SECRET_ACCESS_KEY: 'wrong' }, { S3_BUCKET: 'there-is-none' }, { S3_ENDPOINT: proxy.url }].map(
        (wrong) => startFiles({ worker: false, env: { ...quiet, ...bucket.env, ...wrong } }),
      ),
    );
    if (!secret || !none || !shaky) throw new Error('not started');
    onTestFinished(async () => {
      await Promise.all([secret.stop(), none.stop(), shaky.stop()]);
    });
    await expectUnavailable(secret, await secret.agent(), someText);
    await expectUnavailable(none, await none.agent(), someText);
    const ada = await shaky.agent();
    const id = await uploaded(shaky, ada);
    await vi.waitFor(() => attachmentScanningHandler(shaky.core).handle({ ids: [id] }), 20_000);
    const content = await vi.waitFor(async () => {
      const answer = await fetchContent(shaky, ada, id);
      expect(answer.status).toBe(200);
      return answer.text();
    }, 20_000);
    expect(content).toBe(String(someText));
    expect(await shaky.core.blobs.list('', 10)).toHaveLength(1);
  });
});
