import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import { call } from './load/call.ts';
import type { Agent } from './load/population.ts';

const timeoutMs = 10_000;
const retryDelayMs = 100;

/** Reads answers, lists of pages and files. Retries while the outcome is unknown; throws on a permanent error. */
export function createPageReader(base: string, giveUp: AbortSignal) {
  async function get<T>(agent: Agent, path: string, query: object, schema: z.ZodType<T>): Promise<T> {
    const parameters = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
    const text = new URLSearchParams(parameters.map(([name, value]) => [name, String(value)])).toString();
    for (;;) {
      giveUp.throwIfAborted();
      const request = { base, token: agent.tokens.api, method: 'GET', path: `${path}?${text}` } as const;
      const outcome = await call({ ...request, timeoutMs });
      if ('answer' in outcome) return schema.parse(outcome.answer);
      if ('refused' in outcome) throw new Error(`GET ${path}: ${outcome.refused}`);
      await pause(retryDelayMs);
    }
  }

  async function getAll<Page extends { next_cursor?: string | null | undefined }>(
    agent: Agent,
    path: string,
    query: object,
    schema: z.ZodType<Page>,
  ): Promise<Page[]> {
    const pages: Page[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await get(agent, path, { ...query, cursor }, schema);
      pages.push(page);
      cursor = page.next_cursor;
    } while (cursor);
    return pages;
  }

  /** Follows the redirect to the signed address at the address that clients use. */
  async function download(agent: Agent, path: string): Promise<Buffer> {
    for (;;) {
      giveUp.throwIfAborted();
      const headers = { Authorization: `Bearer ${agent.tokens.api}` };
      const signal = AbortSignal.timeout(timeoutMs);
      const answer = await fetch(`${base}/v1${path}`, { headers, redirect: 'manual', signal });
      const location = answer.headers.get('location');
      if (location !== null) {
        const { pathname, search } = new URL(location, base);
        const file = await fetch(`${base}${pathname}${search}`, { signal });
        if (file.ok) return Buffer.from(await file.arrayBuffer());
        if (file.status !== 503) throw new Error(`GET ${pathname}: ${file.status} ${await file.text()}`);
      } else if (answer.status !== 503) {
        throw new Error(`GET ${path}: ${answer.status} ${await answer.text()}`);
      }
      await pause(retryDelayMs);
    }
  }

  return { get, getAll, download };
}
