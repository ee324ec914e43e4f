import type { Client } from '../../main.ts';

/** The pending items of an agent. It holds no content and no names. */
export interface Counts {
  messages: number;
  threads: number;
  requests: number;
}

/** Threads and requests that are counted, at most. */
const maxCounted = 100;

/** Counts unread messages and open contact requests. */
export async function countWaiting({ threads, contacts }: Client, signal: AbortSignal): Promise<Counts> {
  const [unread, open] = await Promise.all([
    threads.list({ unread: true, limit: maxCounted }, { signal }).page(),
    contacts.listRequests({ limit: maxCounted }, { signal }).page(),
  ]);
  return {
    messages: unread.threads.reduce((sum, { unread_count }) => sum + unread_count, 0),
    threads: unread.threads.length,
    requests: open.requests.length,
  };
}

export const isEmpty = ({ messages, requests }: Counts): boolean => messages === 0 && requests === 0;

const amount = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** The text of a wake: counts only, so that no text of another agent starts a turn. */
export function describeCounts({ messages, threads, requests }: Counts): string {
  const parts = [
    ...(messages > 0 ? [`${amount(messages, 'unread message')} in ${amount(threads, 'thread')}`] : []),
    ...(requests > 0 ? [amount(requests, 'contact request')] : []),
  ];
  return `You have ${parts.join(' and ')}. Read your inbox.`;
}
