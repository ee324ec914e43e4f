import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { rest, type RestAnswer } from '../../support/rest-client.ts';
import type { Conversation } from './cluster.ts';

export interface Acknowledged {
  id: string;
  sequence: number;
  content: string;
}

export interface Load {
  acknowledged: readonly Acknowledged[];
  /** Every answer but 201. */
  refusals: readonly RestAnswer[];
  /** Requests that got no answer at all. */
  unanswered(): number;
  /** Holds that the service answered every request, and refused none. */
  expectSmooth(): void;
  /** Resolves when so many more messages are acknowledged than now. */
  more(count: number): Promise<void>;
  /** Resolves when `fits`, which is asked after every answer and every fault. */
  until(fits: () => boolean): Promise<void>;
  /** Lets every message that was begun come to its 201, and begins no other. */
  finish(): Promise<void>;
}

/** How many messages are under way at once. */
const lanes = 4;
/** The rhythm of the senders, in milliseconds: between two messages, and before the same one is tried again. */
const rhythm = { next: 10, again: 50 };

/**
 * Sends messages in turn by all members of a conversation, four at a time, each with one key until it is acknowledged. Every
 * try goes to the next address, as behind a balancer that does not look.
 */
export function startLoad({ thread_id, members }: Conversation, addresses: () => readonly string[]): Load {
  const acknowledged: Acknowledged[] = [];
  const refusals: RestAnswer[] = [];
  const watchers = new Set<() => void>();
  let tries = 0;
  let unanswered = 0;
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
    try {
      const answer = await rest('POST', url, { token, key, body: { content } });
      if (answer.status !== 201) {
        refusals.push(answer);
        return false;
      }
      const { id, sequence } = answer.body as Acknowledged;
      acknowledged.push({ id, sequence, content });
      return true;
    } catch {
      unanswered += 1;
      return false;
    } finally {
      for (const look of watchers) look();
    }
  }

  async function lane(): Promise<void> {
    while (!over.signal.aborted) {
      const number = (begun += 1);
      const token = members[number % members.length]?.token ?? '';
      const key = randomUUID();
      while (!(await attempt(token, key, `message ${key}`)) && !abandoned.signal.aborted)
        await pause(rhythm.again);
      await pause(rhythm.next);
    }
  }

  async function until(fits: () => boolean): Promise<void> {
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

  const running = Promise.all(Array.from({ length: lanes }, lane));
  return {
    acknowledged,
    refusals,
    unanswered: () => unanswered,
    expectSmooth() {
      expect({ refusals: refusals.map(({ text }) => text), unanswered }).toEqual({
        refusals: [],
        unanswered: 0,
      });
    },
    more(count) {
      const goal = acknowledged.length + count;
      return until(() => acknowledged.length >= goal);
    },
    until,
    async finish() {
      over.abort();
      await running;
    },
  };
}
