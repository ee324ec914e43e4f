import { Agent, request } from 'node:http';
import type { HttpExchange } from '../../../support/openapi/response-check.ts';
import { closingBoundary, multipartType, buildPart } from '../../attachments/setup.ts';
import { corruptBody } from './hostile-requests.ts';
import type { RequestDraft } from './requests.ts';
import type { FuzzFixtures } from './fixtures.ts';

/** Longer than the longest requested wait. A slower response counts as hung. */
const timeoutMs = 60_000;

export interface Sender {
  /**
   * @returns null when the request disconnects by design.
   * @throws {Error} when there is no response in time.
   */
  send(draft: RequestDraft): Promise<HttpExchange | null>;
  close(): void;
}

const fileBody = (content: string): string =>
  `${String(buildPart({ bytes: Buffer.from(content) }))}${String(closingBoundary)}`;

/** Sends drafts unchanged. A full HTTP client would correct many of them. */
export function createSender(origin: string, fixtures: FuzzFixtures): Sender {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const { hostname, port } = new URL(origin);

  function send(draft: RequestDraft): Promise<HttpExchange | null> {
    const resident = fixtures.agents[draft.agentIndex % fixtures.agents.length];
    if (!resident) throw new Error('there are no agents');
    const path = `/v1${fixtures.replacePlaceholders(draft.path, resident, encodeURIComponent)}`;
    const text =
      draft.body && `{${draft.body.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
    const filled =
      text && fixtures.replacePlaceholders(text, resident, (value) => JSON.stringify(value).slice(1, -1));
    const corruption = draft.corruption;
    const whole = draft.file === null ? filled : fileBody(draft.file);
    const bytes = corruption
      ? corruptBody(whole ?? '{}', corruption)
      : whole === null
        ? undefined
        : Buffer.from(whole);
    const headers = new Map<string, string>([['Authorization', `Bearer ${resident.token}`]]);
    if (bytes) headers.set('Content-Type', draft.file === null ? 'application/json' : multipartType);
    const disconnects = corruption?.kind === 'disconnect';
    if (bytes) headers.set('Content-Length', String(bytes.length + (disconnects ? 1 : 0)));
    for (const [name, value] of draft.headers)
      headers.set(name, fixtures.replacePlaceholders(value, resident, String));

    return new Promise((resolve, reject) => {
      const fail = (why: string) => reject(new Error(`${draft.method} ${path.slice(0, 300)}: ${why}`));
      const call = request({ agent, hostname, port, path, method: draft.method, timeout: timeoutMs });
      for (const [name, value] of headers) call.setHeader(name, value);
      call.on('timeout', () => call.destroy(new Error(`no answer within ${timeoutMs} ms`)));
      call.on('error', (error) => (disconnects ? resolve(null) : fail(error.message)));
      if (disconnects) call.on('close', () => resolve(null));
      call.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', (error) => fail(error.message));
        response.on('end', () => {
          const get = (name: string) => {
            const value = response.headers[name.toLowerCase()];
            return value === undefined ? null : String(value);
          };
          const status = response.statusCode ?? 0;
          resolve({
            method: draft.method,
            path,
            status,
            headers: { get },
            text: Buffer.concat(chunks).toString(),
          });
        });
      });
      if (disconnects) call.write(bytes, () => call.destroy());
      else call.end(bytes);
    });
  }
  return { send, close: () => agent.destroy() };
}
