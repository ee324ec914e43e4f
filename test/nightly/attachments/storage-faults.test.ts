import { readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { attachmentScanningHandler } from '../../../workers/attachment-scanning.ts';
import { sweepBlobs } from '../../../workers/maintenance/file-retention.ts';
import {
  type FaultyResponse,
  startFaultyS3,
  type FaultPlan,
  buildPlannedFile,
} from '../../support/servers/faulty-s3.ts';
import { startHttpProxy } from '../../support/servers/http-proxy.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';
import { missingS3Reason, createTestBucket } from '../../support/servers/s3.ts';
import type { TestAgent } from '../../support/service.ts';
import {
  fetchContent,
  type AttachmentService,
  reachable,
  sampleText,
  startAttachmentService,
  upload,
  uploadId,
} from '../../integration/attachments/setup.ts';
import { stopAfterTest, use } from '../../support/use.ts';

const silentLog = { LOG_LEVEL: 'silent' };

/** Expects a clear refusal. */
async function expectUnavailable(service: AttachmentService, agent: TestAgent, bytes: Buffer): Promise<void> {
  const answer = await upload(service, agent, { bytes, type: null });
  expect(answer).toMatchObject({ status: 503, body: { error: { code: 'UNAVAILABLE' } } });
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await recordsOf(service, agent)).toEqual([]);
}

/** The removed files that this process keeps open. */
async function openDrafts(): Promise<string[]> {
  const descriptors = await readdir('/proc/self/fd');
  const links = descriptors.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => ''));
  return (await Promise.all(links)).filter((path) => path.endsWith(' (deleted)') && path.includes('drafts'));
}

function recordsOf({ core }: AttachmentService, { id }: TestAgent): Promise<object[]> {
  return core.database.query({ text: 'select id from attachments where uploader_id = $1' }, [id]);
}

describe('a failing store', () => {
  const store = use(startFaultyS3);
  const service = use(() => startAttachmentService({ worker: false, env: { ...silentLog, ...store.env } }));

  const scan = (id: string) => attachmentScanningHandler(service.core).handle({ ids: [id] });
  const statusOf = async (id: string) => (await service.core.db.attachments.find(id))?.scan_status;
  const days = 24 * 3_600_000;

  describe.concurrent('permanently', () => {
    test.each<[FaultyResponse, number]>([
      [500, 3],
      [503, 3],
      ['cut', 3],
      ['hang', 3],
      [403, 1],
      [404, 1],
    ])('(%s) is unavailable after %i attempts', async (fault, tries) => {
      const bytes = buildPlannedFile({ PUT: [fault] });
      await expectUnavailable(service, await service.agent(), bytes);
      expect(store.countAttempts('PUT', bytes)).toBe(tries);
      await vi.waitFor(async () => expect(await openDrafts()).toEqual([]));
    });

    test('(it stores the bytes but never responds) is unavailable; the sweep removes the bytes', async () => {
      const bytes = buildPlannedFile({ PUT: ['lost'] });
      await expectUnavailable(service, await service.agent(), bytes);
      for (const orphan of store.countCopies(bytes)) orphan.at -= 2 * days;
      expect(store.countCopies(bytes)).toHaveLength(1);
      await sweepBlobs(service.core);
      expect(store.countCopies(bytes)).toEqual([]);
    });
  });

  describe.concurrent('temporarily', () => {
    test.each<[string, FaultPlan]>([
      ['fails to write at first', { PUT: [500, 503, 'do'] }],
      ['closes the connection, then hangs', { PUT: ['cut', 'hang', 'do'] }],
      ['stores the bytes without a response', { PUT: ['lost', 'do'] }],
      ['fails to read at first', { GET: [500, 'cut', 'do'] }],
      ['does not respond at first', { GET: ['hang', 'do'] }],
    ])('(%s) recovers: nothing is lost or duplicated', async (_, plan) => {
      const ada = await service.agent();
      const bytes = buildPlannedFile(plan);
      const id = await uploadId(service, ada, { bytes, type: null });
      expect(store.countCopies(bytes)).toHaveLength(1);
      await scan(id);
      expect(await statusOf(id)).toBe('clean');
      const content = await fetchContent(service, ada, id);
      expect(Buffer.from(await content.arrayBuffer()).equals(bytes)).toBe(true);
    });

    test.each<FaultyResponse>(['half', 'stuck'])(
      '(%s of the bytes) marks no file as infected',
      async (fault) => {
        const ada = await service.agent();
        const id = await uploadId(service, ada, {
          bytes: buildPlannedFile({ GET: [fault, 'do'] }),
          type: null,
        });
        await expect(scan(id)).rejects.toThrow('not scanned');
        expect(await statusOf(id)).toBe('pending');
        await scan(id);
        expect(await statusOf(id)).toBe('clean');
      },
    );

    test('(half of the bytes) never counts as the whole file', async () => {
      const ada = await service.agent();
      const bytes = buildPlannedFile({ GET: ['do', 'half', 'stuck', 500, 500, 500, 'do'] });
      const id = await uploadId(service, ada, { bytes, type: null });
      await service.core.db.attachments.setScan(id, { scan_status: 'clean', scanned_by: 'test' });
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

    test('(cannot remove) leaves duplicate bytes of one key to the sweep', async () => {
      const ada = await service.agent();
      const bytes = buildPlannedFile({ DELETE: [500, 500, 500, 'do'] });
      const key = 'the-same';
      const first = await upload(service, ada, { bytes, type: null, key });
      const again = await upload(service, ada, { bytes, type: null, key });
      expect([again.status, again.text]).toEqual([201, first.text]);
      expect(store.countCopies(bytes)).toHaveLength(2);
      for (const object of store.countCopies(bytes)) object.at -= 2 * days;
      await sweepBlobs(service.core);
      expect(store.countCopies(bytes)).toHaveLength(1);
      await scan(first.body.id);
      expect(await statusOf(first.body.id)).toBe('clean');
    });

    test('(fails while an upload moves to its final key) completes it later', async () => {
      const ada = await service.agent();
      const bytes = buildPlannedFile({ GET: ['half', 'do'], PUT: ['do', 500, 500, 500, 'do'] });
      const input = { filename: 'a.json', content_type: 'application/json', size: bytes.length };
      const token = ada.token;
      const { body } = await service.post({ token }, '/attachments/uploads', input);
      const { url, headers } = body.upload;
      const put = await fetch(reachable(service, url), {
        method: 'PUT',
        headers,
        body: new Uint8Array(bytes),
      });
      expect(put.status).toBe(200);
      const complete = () => service.post({ token }, `/attachments/${body.attachment_id}/complete`);
      expect(await complete()).toMatchObject({ status: 503, body: { error: { code: 'UNAVAILABLE' } } });
      expect(await complete()).toMatchObject({ status: 200, body: { id: body.attachment_id } });
    });
  });

  test('that cannot list removes nothing, and foreign keys are left alone', async () => {
    const ada = await service.agent();
    const id = await uploadId(service, ada);
    const others = ['attachments/README', 'attachments/0/of-others', 'elsewhere/ab'];
    for (const key of others) store.objects.set(key, { bytes: sampleText, at: 0 });
    const before = store.objects.size;
    store.listing.deed = 500;
    await expect(sweepBlobs(service.core)).rejects.toThrow();
    store.listing.deed = 'do';
    await sweepBlobs(service.core);
    expect(store.objects.size).toBe(before);
    expect(await service.core.blobs.list('', 1)).toHaveLength(1);
    expect(await statusOf(id)).toBe('pending');
    // No test of this file leaves anything on the local disk.
    expect(await readdir(join(service.folder, 'drafts'))).toEqual([]);
  });
});

test('an unwritable folder is unavailable, and works again when it is writable', async () => {
  const service = await startAttachmentService({ worker: false, env: silentLog });
  onTestFinished(() => service.stop().then(() => undefined));
  const ada = await service.agent();
  // Like an unmounted or full disk: not even root can create a file there.
  const blobs = join(service.folder, 'blobs');
  await writeFile(blobs, '');
  await expectUnavailable(service, ada, sampleText);
  await rm(blobs);
  const id = await uploadId(service, ada);
  await attachmentScanningHandler(service.core).handle({ ids: [id] });
  const { headers } = await service.get(ada, `/attachments/${id}/content`);
  const address = reachable(service, headers.get('location') ?? '');
  await rm(blobs, { recursive: true });
  const unavailable = await fetch(address);
  expect([unavailable.status, (await unavailable.json()).error.code]).toEqual([503, 'UNAVAILABLE']);
});

describeUnless(missingS3Reason, 'a real S3 server', () => {
  test('with a wrong secret, a missing bucket or temporary outages reports unavailable clearly', async () => {
    const bucket = stopAfterTest(await createTestBucket());
    let requests = 0;
    const faults = ['cut', 500, 'pass'] as const;
    const proxy = stopAfterTest(
      await startHttpProxy(bucket.env.S3_ENDPOINT, () => faults[(requests += 1) % 3] ?? 'pass'),
    );
    const [secret, none, shaky] = await Promise.all(
      [{ S3_SECRET_ACCESS_KEY: 'wrong' }, { S3_BUCKET: 'there-is-none' }, { S3_ENDPOINT: proxy.url }].map(
        (wrong) => startAttachmentService({ worker: false, env: { ...silentLog, ...bucket.env, ...wrong } }),
      ),
    );
    if (!secret || !none || !shaky) throw new Error('not started');
    onTestFinished(async () => {
      await Promise.all([secret.stop(), none.stop(), shaky.stop()]);
    });
    await expectUnavailable(secret, await secret.agent(), sampleText);
    await expectUnavailable(none, await none.agent(), sampleText);
    const ada = await shaky.agent();
    const id = await uploadId(shaky, ada);
    await vi.waitFor(() => attachmentScanningHandler(shaky.core).handle({ ids: [id] }), 20_000);
    const content = await vi.waitFor(async () => {
      const answer = await fetchContent(shaky, ada, id);
      expect(answer.status).toBe(200);
      return answer.text();
    }, 20_000);
    expect(content).toBe(String(sampleText));
    expect(await shaky.core.blobs.list('', 10)).toHaveLength(1);
  });
});
