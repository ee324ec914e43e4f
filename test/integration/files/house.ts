import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { rest, type RestAnswer } from '../../support/rest-client.ts';
import { startService, type TestAgent, type TestService } from '../../support/service.ts';

/** A service with a store of its own, and without a worker unless the test is about one: then nothing is scanned. */
export async function startFiles(options: { worker?: boolean; env?: Record<string, string> } = {}) {
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

export type FileService = Awaited<ReturnType<typeof startFiles>>;

export interface SentFile {
  name?: string;
  /** `null` sends none. */
  type?: string | null;
  bytes: Uint8Array;
  /** Of the part. */
  field?: string;
  key?: string;
}

const boundary = 'x-file-boundary';

/** One part of a multipart body, byte for byte. */
export function partOf({ name = 'notes.txt', type = 'text/plain', bytes, field = 'file' }: SentFile): Buffer {
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

export const endOfBody = Buffer.from(`--${boundary}--\r\n`);

/** POST /attachments with these parts. */
export function sendParts(
  service: Pick<TestService, 'api'>,
  agent: Pick<TestAgent, 'token'>,
  parts: readonly Buffer[],
  key: string = randomUUID(),
): Promise<RestAnswer> {
  return rest('POST', `${service.api}/attachments`, {
    token: agent.token,
    key,
    headers: { 'Content-Type': multipartType },
    raw: new Uint8Array(Buffer.concat([...parts, endOfBody])),
  });
}

export function upload(
  service: Pick<TestService, 'api'>,
  agent: Pick<TestAgent, 'token'>,
  file: SentFile,
): Promise<RestAnswer> {
  return sendParts(service, agent, [partOf(file)], file.key);
}

export const someText = Buffer.from('an agent wrote this\r\n'.repeat(50));

/** The id of a new upload. */
export async function uploaded(
  service: Pick<TestService, 'api'>,
  agent: TestAgent,
  file: SentFile = { bytes: someText },
): Promise<string> {
  const answer = await upload(service, agent, file);
  if (answer.status !== 201) throw new Error(`not uploaded: ${answer.status} ${answer.text}`);
  return answer.body.id;
}

/** Waits until a scan is over; answers the record. */
export async function scanned(service: Pick<TestService, 'api'>, agent: TestAgent, id: string) {
  return vi.waitFor(
    async () => {
      const { body } = await rest('GET', `${service.api}/attachments/${id}`, { token: agent.token });
      if (body.scan_status === 'pending') throw new Error('still pending');
      return body;
    },
    { timeout: 40_000, interval: 20 },
  );
}

/** A thread between agents. */
export async function openThread(
  service: TestService,
  from: TestAgent,
  ...others: TestAgent[]
): Promise<string> {
  const { body } = await rest('POST', `${service.api}/threads`, {
    token: from.token,
    body: { participants: others.map(({ handle }) => handle) },
  });
  return body.id;
}

export function send(
  service: TestService,
  agent: TestAgent,
  thread: string,
  attachment_ids: string[],
): Promise<RestAnswer> {
  const body = { content: 'see the file', attachment_ids };
  return rest('POST', `${service.api}/threads/${thread}/messages`, { token: agent.token, body });
}

/** The same address at the port where the test's API listens: its settings name another. */
export function reachable(service: Pick<TestService, 'url'>, address: string): string {
  const { pathname, search } = new URL(address);
  return `${service.url}${pathname}${search}`;
}

/** GET /attachments/{id}/content, followed. */
export async function fetchContent(
  service: Pick<TestService, 'core' | 'api' | 'url'>,
  agent: TestAgent,
  id: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  const answer = await rest('GET', `${service.api}/attachments/${id}/content`, { token: agent.token });
  if (answer.status !== 302) throw new Error(`not sent on: ${answer.status} ${answer.text}`);
  const location = answer.headers.get('location') ?? '';
  const own = location.startsWith(service.core.config.PUBLIC_URL);
  return fetch(own ? reachable(service, location) : location, { headers });
}

export const newKey = (): string => randomBytes(16).toString('hex');
