import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { describeUnless } from '../../support/leave-out.ts';
import { type Deed, httpProxy } from '../../support/http-proxy.ts';
import { missingS3, testBucket } from '../../support/s3.ts';
import { rest } from '../../support/rest-client.ts';
import { fetchContent, type FileService, scanned, someText, startFiles, upload } from './house.ts';

/** A service whose store is this bucket, or something that pretends to be. */
async function serviceOn(env: Record<string, string>, worker = false): Promise<FileService> {
  const service = await startFiles({ worker, env: { LOG_LEVEL: 'silent', ...env } });
  onTestFinished(() => service.stop().then(() => undefined));
  return service;
}

/** Refused clearly, and nothing of it is left on this side. */
async function expectUnavailable(service: FileService): Promise<void> {
  const ada = await service.agent();
  const answer = await upload(service, ada, { bytes: someText, key: 'k' });
  expect(answer).toMatchObject({ status: 503, body: { error: { code: 'UNAVAILABLE' } } });
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await readdir(join(service.folder, 'drafts'))).toEqual([]);
  const rows = await service.core.database.query({ text: 'select id from attachments' }, []);
  expect(rows).toEqual([]);
}

const nowhere = {
  S3_BUCKET: 'bucket',
  S3_ACCESS_KEY_ID: 'id',
  S3_SECRET_ACCESS_KEY: 'secret',
};

async function faulty(target: string, decide: (method: string) => Deed) {
  const proxy = await httpProxy(target, decide);
  onTestFinished(() => proxy.close());
  return proxy;
}

test.each<Deed>([500, 503, 'cut'])('a store that does nothing but %s is unavailable', async (deed) => {
  let tries = 0;
  const proxy = await faulty('http://127.0.0.1:9', () => {
    tries += 1;
    return deed;
  });
  await expectUnavailable(await serviceOn({ ...nowhere, S3_ENDPOINT: proxy.url }));
  expect(tries).toBeGreaterThanOrEqual(3);
});

test('a store that is not there is unavailable', async () => {
  await expectUnavailable(await serviceOn({ ...nowhere, S3_ENDPOINT: 'http://127.0.0.1:9' }));
});

describeUnless(missingS3, 'faults of a real S3 server', () => {
  test('a wrong secret is no lesser fault than a store that is away', async () => {
    const bucket = await testBucket();
    onTestFinished(() => bucket.remove());
    await expectUnavailable(await serviceOn({ ...bucket.env, S3_SECRET_ACCESS_KEY: 'wrong' }));
  });

  test('a bucket that does not exist is no lesser fault', async () => {
    const bucket = await testBucket();
    onTestFinished(() => bucket.remove());
    await expectUnavailable(await serviceOn({ ...bucket.env, S3_BUCKET: 'there-is-none' }));
  });

  test.each<Deed>([500, 'cut'])(
    '%s now and then is made good: nothing is lost, nothing is there twice',
    async (deed) => {
      const bucket = await testBucket();
      onTestFinished(() => bucket.remove());
      let asked = 0;
      const proxy = await faulty(bucket.env.S3_ENDPOINT, () => ((asked += 1) % 2 === 1 ? deed : 'pass'));
      const service = await serviceOn({ ...bucket.env, S3_ENDPOINT: proxy.url }, true);
      const ada = await service.agent();
      const { status, body } = await upload(service, ada, { bytes: someText });
      expect(status).toBe(201);
      expect(await scanned(service, ada, body.id)).toMatchObject({ scan_status: 'clean' });
      const fetched = await fetchContent(service, ada, body.id);
      expect(await fetched.text()).toBe(String(someText));
      expect(await service.core.blobs.list('', 10)).toHaveLength(1);
    },
  );

  test('content that cannot be fetched just now is unavailable, not gone', async () => {
    const bucket = await testBucket();
    onTestFinished(() => bucket.remove());
    let away = false;
    const proxy = await faulty(bucket.env.S3_ENDPOINT, () => (away ? 500 : 'pass'));
    const service = await serviceOn({ ...bucket.env, S3_ENDPOINT: proxy.url }, true);
    const ada = await service.agent();
    const { body } = await upload(service, ada, { bytes: someText });
    await scanned(service, ada, body.id);
    away = true;
    const failed = await fetchContent(service, ada, body.id);
    expect(failed.status).toBe(503);
    expect(await failed.json()).toMatchObject({ error: { code: 'UNAVAILABLE' } });
    away = false;
    expect((await fetchContent(service, ada, body.id)).status).toBe(200);
    expect((await rest('GET', `${service.url}/readyz`)).status).toBe(200);
  });
});
