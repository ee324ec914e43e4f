import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../random.ts';
import { type ClaimedItem, type Instance, leaseSeconds } from './claims.ts';
import { createReply, type LeaseWrites } from './lease-writes.ts';

/** What an instance needs to deal with an item. */
interface Parts {
  item: ClaimedItem;
  writes: LeaseWrites;
  random: Random;
  signal: AbortSignal;
}

interface Course {
  /** Share of the leases in percent. */
  percent: number;
  /** It takes longer than a lease, so the instance claims other items meanwhile. */
  isSlow?: boolean;
  /** No tool renews a lease. */
  needsRenewal?: boolean;
  run(parts: Parts): Promise<void>;
}

const maxDelaySeconds = 2;
const maxWorkMs = 100;
/** How long after the end of its lease an instance still writes, in milliseconds. */
const oversleptMs = [300, 1_500] as const;

const replyTo = ({ item: { lease, isReply } }: Parts, what: string) =>
  isReply ? null : createReply(lease, what);

/** What instances do with their leases. */
const courses = {
  acknowledge: { percent: 33, run: ({ writes, item }) => writes.acknowledge(item.lease, null) },
  // The instance acknowledges all of these leases with one request.
  'acknowledge many': { percent: 25, run: async () => undefined },
  reply: {
    percent: 15,
    run: (parts) => {
      const state = parts.random.pick(['completed', 'working', 'input_required'] as const);
      return parts.writes.acknowledge(parts.item.lease, replyTo(parts, 'reply'), state);
    },
  },
  send: {
    percent: 6,
    async run(parts) {
      const { writes, item } = parts;
      const message = replyTo(parts, 'message with a lease');
      if (message) await writes.send(item.lease, message);
      await writes.acknowledge(item.lease, null);
    },
  },
  renew: {
    percent: 7,
    needsRenewal: true,
    async run({ writes, item, random, signal }) {
      await writes.renew(item.lease, leaseSeconds + random.below(2));
      await pause(random.below(maxWorkMs), undefined, { signal });
      await writes.acknowledge(item.lease, null);
    },
  },
  /** Holds the lease for longer than its first length. */
  'renew often': {
    percent: 1,
    isSlow: true,
    needsRenewal: true,
    async run(parts) {
      const { writes, item, signal } = parts;
      for (let times = 0; times < 3; times += 1) {
        await pause(leaseSeconds * 500, undefined, { signal });
        await writes.renew(item.lease, leaseSeconds);
      }
      await writes.acknowledge(item.lease, replyTo(parts, 'late reply'));
    },
  },
  release: {
    percent: 7,
    run: ({ writes, item, random }) => writes.release(item.lease, random.below(maxDelaySeconds + 1)),
  },
  'write after release': {
    percent: 1,
    async run(parts) {
      const { writes, item } = parts;
      await writes.release(item.lease, 0);
      await writes.acknowledge(item.lease, replyTo(parts, 'reply after the release'));
    },
  },
  abandon: { percent: 2, run: async () => undefined },
  /** Sleeps until its lease has expired, and then writes. */
  oversleep: {
    percent: 3,
    isSlow: true,
    async run(parts) {
      const { writes, item, random, signal } = parts;
      const { lease } = item;
      const [minMs, maxMs] = oversleptMs;
      const wakesAt = lease.expires_at + minMs + random.below(maxMs - minMs);
      await pause(Math.max(0, wakesAt - Date.now()), undefined, { signal });
      const message = replyTo(parts, 'message of an expired lease');
      if (message && random.chance(0.5)) await writes.send(lease, message);
      else if (random.chance(0.3)) await writes.release(lease, 0);
      else await writes.acknowledge(lease, message);
    },
  },
} satisfies Record<string, Course>;

export type CourseName = keyof typeof courses;

const names = Object.keys(courses) as CourseName[];

/** Every message of a thread with a multiple of this sequence fails until it is redriven. */
const failingSequence = 23;

/** The course of a lease. Over a transport that cannot take it, it is acknowledged. */
export function pickCourse(
  { lease }: ClaimedItem,
  { kind }: Pick<Instance, 'kind'>,
  parts: { random: Random; isRedriven: boolean },
): CourseName {
  if (lease.sequence % failingSequence === 0 && !parts.isRedriven) return 'release';
  let percent = parts.random.below(100);
  const name = names.find((each) => (percent -= courses[each].percent) < 0) ?? 'acknowledge';
  const { needsRenewal }: Course = courses[name];
  const isMissing = kind === 'tool' && (needsRenewal || name === 'acknowledge many');
  return isMissing ? 'acknowledge' : name;
}

export function isSlow(name: CourseName): boolean {
  const course: Course = courses[name];
  return course.isSlow === true;
}

/** Deals with an item. Ends early when the instance is killed. */
export async function followCourse(name: CourseName, parts: Parts): Promise<void> {
  try {
    await courses[name].run(parts);
  } catch (error) {
    if (!parts.signal.aborted) throw error;
  }
}
