import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { requestRest, type RestResponse } from '../../clients/rest.ts';
import { ownerKey } from '../../../src/start/store-owner.ts';
import { startService, type TestAgent, type TestService } from '../../support/service.ts';

/** A service with its own store. Without a worker, which is the default, nothing is scanned. */
export async function startAttachmentService(
  options: { worker?: boolean; env?: Record<string, string> } = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'ams-files-'));
  const env = { DATA_DIR: folder, ...options.env };
  const service = await startService({ worker: options.worker ?? true, env });
  return {
    ...service,
    folder,
    async stop() {
      const inTime = await service.stop();
      await rm(folder, { recursive: true, force: true });
      return inTime;
    },
  };
}

export type AttachmentService = Awaited<ReturnType<typeof startAttachmentService>>;

export interface UploadFile {
  name?: string;
  /** `null` omits the header. */
  type?: string | null;
  bytes: Uint8Array;
  /** The `Content-Type` of the part. */
  field?: string;
  key?: string;
}

const boundary = 'x-file-boundary';

/** One part of a multipart body, byte for byte. */
export function buildPart({
  name = 'notes.txt',
  type = 'text/plain',
  bytes,
  field = 'file',
}: UploadFile): Buffer {
  const head = [
    `--${boundary}`,
    `Content-Disposition: form-data; name="${field}"; filename="${name}"`,
    ...(type === null ? [] : [`Content-Type: ${type}`]),
    '',
    '',
  ].join('\r\n');
  return Buffer.concat([Buffer.from(head), bytes, Buffer.from('\r\n')]);
}

export const multipartType = `multipart/form-data; boundary=${boundary}`;

export const closingBoundary = Buffer.from(`--${boundary}--\r\n`);

/** POST /attachments with these parts. */
function postParts(
  service: Pick<TestService, 'api'>,
  agent: Pick<TestAgent, 'token'>,
  parts: readonly Buffer[],
  key: string = randomUUID(),
): Promise<RestResponse> {
  return requestRest('POST', `${service.api}/attachments`, {
    token: agent.token,
    key,
    headers: { 'Content-Type': multipartType },
    raw: new Uint8Array(Buffer.concat([...parts, closingBoundary])),
  });
}

export function upload(
  service: Pick<TestService, 'api'>,
  agent: Pick<TestAgent, 'token'>,
  file: UploadFile,
): Promise<RestResponse> {
  return postParts(service, agent, [buildPart(file)], file.key);
}

/** The keys of the stored files: without the mark of the store, which a sweep can write at any time. */
export async function listFiles({ core }: Pick<TestService, 'core'>): Promise<string[]> {
  const blobs = await core.blobs.list('', 1_000);
  return blobs.map(({ key }) => key).filter((key) => key !== ownerKey);
}

export const sampleText = Buffer.from('an agent wrote this\r\n'.repeat(50));

/** The id of a new upload. */
export async function uploadId(
  service: Pick<TestService, 'api'>,
  agent: TestAgent,
  file: UploadFile = { bytes: sampleText },
): Promise<string> {
  const answer = await upload(service, agent, file);
  if (answer.status !== 201) throw new Error(`not uploaded: ${answer.status} ${answer.text}`);
  return answer.body.id;
}

/** Waits until a scan ends and returns the record. */
export async function waitForScan(service: Pick<TestService, 'api'>, agent: TestAgent, id: string) {
  return vi.waitFor(
    async () => {
      const { body } = await requestRest('GET', `${service.api}/attachments/${id}`, { token: agent.token });
      if (body.scan_status === 'pending') throw new Error('still pending');
      return body;
    },
    { timeout: 40_000, interval: 20 },
  );
}

/** Creates a thread between agents. */
export async function openThread(
  service: TestService,
  from: TestAgent,
  ...others: TestAgent[]
): Promise<string> {
  const { body } = await service.post(from, '/threads', { participants: others.map(({ handle }) => handle) });
  return body.id;
}

export function sendMessage(
  service: TestService,
  agent: TestAgent,
  thread: string,
  attachment_ids: string[],
): Promise<RestResponse> {
  return service.post(agent, `/threads/${thread}/messages`, { content: 'see the file', attachment_ids });
}

/** The same URL at the port of the test's API, which differs from the configured one. */
export function reachable(service: Pick<TestService, 'url'>, address: string): string {
  const { pathname, search } = new URL(address);
  return `${service.url}${pathname}${search}`;
}

/** GET /attachments/{id}/content, with the redirect followed. */
export async function fetchContent(
  service: Pick<TestService, 'core' | 'api' | 'url'>,
  agent: TestAgent,
  id: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  const answer = await requestRest('GET', `${service.api}/attachments/${id}/content`, { token: agent.token });
  if (answer.status !== 302) throw new Error(`not redirected: ${answer.status} ${answer.text}`);
  const location = answer.headers.get('location') ?? '';
  const own = location.startsWith(service.core.config.PUBLIC_URL);
  return fetch(own ? reachable(service, location) : location, { headers });
}

export const newIdempotencyKey = (): string => randomBytes(16).toString('hex');
