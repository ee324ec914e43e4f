import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { requestRest, type RestResponse } from '../../clients/rest.ts';
import type { Conversation } from './cluster.ts';

export interface Acknowledged {
  id: string;
  sequence: number;
  content: string;
  /** When the response came, in epoch milliseconds. */
  at: number;
}

export interface MessageLoad {
  acknowledged: readonly Acknowledged[];
  /** Every response except 201. */
  errors: readonly RestResponse[];
  /** Requests without a response. */
  unanswered(): number;
  /** The longest time until a response, in milliseconds. */
  longestMs(): number;
  /** Asserts that every request succeeded. */
  expectNoErrors(): void;
  /** Resolves when `count` more messages are acknowledged. */
  waitForMore(count: number): Promise<void>;
  /** Resolves when `fits` returns true; checked after every response and every error. */
  waitUntil(fits: () => boolean): Promise<void>;
  /** Starts no more messages, and resolves when every started one is acknowledged. */
  finish(): Promise<void>;
}

/** Messages in flight at once. */
const concurrency = 4;
/** Milliseconds between two messages, and before a retry. */
const waitOptions = { next: 10, again: 50 };

/**
 * Sends messages from all members of a conversation in rotation, four at a time, each with one idempotency key until it is acknowledged.
 * Every attempt goes to the next address, like a round-robin load balancer.
 */
export function startMessageLoad(
  { thread_id, members }: Conversation,
  addresses: () => readonly string[],
): MessageLoad {
  const acknowledged: Acknowledged[] = [];
  const errors: RestResponse[] = [];
  const watchers = new Set<() => void>();
  let tries = 0;
  let unanswered = 0;
  let longestMs = 0;
  let begun = 0;
  const over = new AbortController();
  const abandoned = new AbortController();
  onTestFinished(() => {
    over.abort();
    abandoned.abort();
  });

  async function attempt(token: string, key: string, content: string): Promise<boolean> {
    const all = addresses();
    const url = `${all[(tries += 1) % all.length]}/v1/threads/${thread_id}/messages`;
    const since = Date.now();
    try {
      const answer = await requestRest('POST', url, { token, key, body: { content } });
      if (answer.status !== 201) {
        errors.push(answer);
        return false;
      }
      const { id, sequence } = answer.body as Acknowledged;
      acknowledged.push({ id, sequence, content, at: Date.now() });
      return true;
    } catch {
      unanswered += 1;
      return false;
    } finally {
      longestMs = Math.max(longestMs, Date.now() - since);
      for (const look of watchers) look();
    }
  }

  async function lane(): Promise<void> {
    while (!over.signal.aborted) {
      const number = (begun += 1);
      const token = members[number % members.length]?.token ?? '';
      const key = randomUUID();
      while (!(await attempt(token, key, `message ${key}`)) && !abandoned.signal.aborted)
        await pause(waitOptions.again);
      await pause(waitOptions.next);
    }
  }

  async function waitUntil(fits: () => boolean): Promise<void> {
    if (fits()) return;
    await new Promise<void>((resolve) => {
      const look = () => {
        if (!fits()) return;
        watchers.delete(look);
        resolve();
      };
      watchers.add(look);
    });
  }

  const running = Promise.all(Array.from({ length: concurrency }, lane));
  return {
    acknowledged,
    errors,
    unanswered: () => unanswered,
    longestMs: () => longestMs,
    expectNoErrors() {
      expect({ refusals: errors.map(({ text }) => text), unanswered }).toEqual({
        refusals: [],
        unanswered: 0,
      });
    },
    waitForMore(count) {
      const goal = acknowledged.length + count;
      return waitUntil(() => acknowledged.length >= goal);
    },
    waitUntil,
    async finish() {
      over.abort();
      await running;
    },
  };
}
