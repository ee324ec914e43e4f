import { Agent, request } from 'node:http';
import type { Exchange } from '../../../support/openapi/answers.ts';
import { endOfBody, multipartType, partOf } from '../../files/house.ts';
import { twisted } from './hostile.ts';
import type { Draft } from './requests.ts';
import type { World } from './world.ts';

/** Longer than the longest wait that is asked for; what takes longer hangs. */
const patience = 60_000;

export interface Sender {
  /**
   * @returns null when the caller itself hung up in the middle of its request.
   * @throws {Error} when there is no answer, or none in time.
   */
  send(draft: Draft): Promise<Exchange | null>;
  close(): void;
}

const fileBody = (content: string): string =>
  `${String(partOf({ bytes: Buffer.from(content) }))}${String(endOfBody)}`;

/** Sends drafts as they are, byte by byte: a better client would repair half of them. */
export function createSender(origin: string, world: World): Sender {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const { hostname, port } = new URL(origin);

  function send(draft: Draft): Promise<Exchange | null> {
    const resident = world.residents[draft.resident % world.residents.length];
    if (!resident) throw new Error('there is nobody');
    const path = `/v1${world.fill(draft.path, resident, encodeURIComponent)}`;
    const text =
      draft.body && `{${draft.body.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
    const filled = text && world.fill(text, resident, (value) => JSON.stringify(value).slice(1, -1));
    const twist = draft.twist;
    const whole = draft.file === null ? filled : fileBody(draft.file);
    const bytes = twist ? twisted(whole ?? '{}', twist) : whole === null ? undefined : Buffer.from(whole);
    const headers = new Map<string, string>([['Authorization', `Bearer ${resident.token}`]]);
    if (bytes) headers.set('Content-Type', draft.file === null ? 'application/json' : multipartType);
    const hangsUp = twist?.kind === 'hang up';
    if (bytes) headers.set('Content-Length', String(bytes.length + (hangsUp ? 1 : 0)));
    for (const [name, value] of draft.headers) headers.set(name, world.fill(value, resident, String));

    return new Promise((resolve, reject) => {
      const fail = (why: string) => reject(new Error(`${draft.method} ${path.slice(0, 300)}: ${why}`));
      const call = request({ agent, hostname, port, path, method: draft.method, timeout: patience });
      for (const [name, value] of headers) call.setHeader(name, value);
      call.on('timeout', () => call.destroy(new Error(`no answer within ${patience} ms`)));
      call.on('error', (error) => (hangsUp ? resolve(null) : fail(error.message)));
      if (hangsUp) call.on('close', () => resolve(null));
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
      if (hangsUp) call.write(bytes, () => call.destroy());
      else call.end(bytes);
    });
  }
  return { send, close: () => agent.destroy() };
}
