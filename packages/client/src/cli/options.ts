import { InvalidArgumentError } from 'commander';
import { type Client, NotFoundError } from '../main.ts';
import { CommandError, exitCodes } from './exit-codes.ts';

/** Parses an address such as https://messages.example.com. */
export function parseUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
  throw new InvalidArgumentError('Must be a URL such as https://messages.example.com.');
}

export const isThreadId = (value: string): boolean => value.startsWith('thd_');

/**
 * Returns the thread of an id, or the latest active thread of two with an agent.
 * @throws {CommandError} when there is no such thread
 */
export async function findThread(client: Client, target: string): Promise<string> {
  if (isThreadId(target)) return target;
  const found = await findThreadWith(client, target);
  if (found !== undefined) return found;
  throw new CommandError(
    `there is no thread with ${target}; write to it with: am send ${target}`,
    exitCodes.notFound,
  );
}

/** Returns the latest active thread of two with an agent; undefined if there is none. */
export async function findThreadWith(client: Client, handle: string): Promise<string | undefined> {
  try {
    for await (const thread of client.threads.list({ with_handle: handle, status: 'active' }))
      if (thread.members.length === 2) return thread.id;
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
  }
  return undefined;
}
