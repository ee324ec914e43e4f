import type { Person } from '../../../packages/core/src/domain/auth/actor.ts';
import { isId } from '../../../packages/core/src/domain/ids.ts';
import type { ReadWork } from '../../work/unit-of-work.ts';

/** What an open page of a person depends on. */
export interface LiveState {
  /** The agents whose feeds the page shows. */
  agent_ids: readonly string[];
  /** Changes with every entry in a feed of these agents, and with the agents themselves. */
  cursor: string;
}

/**
 * Returns the state of an open page, read with the person's current session and rights.
 * @param thread_id for the page of one conversation.
 * @returns undefined when the session has ended, or when the person may no longer read the conversation.
 */
export async function readLiveState(
  { db: { livePages } }: ReadWork,
  { session_id }: Pick<Person, 'session_id'>,
  thread_id: string | null = null,
): Promise<LiveState | undefined> {
  if (thread_id !== null && !isId('thread', thread_id)) return undefined;
  const idHash = Buffer.from(session_id, 'base64url');
  const found = await livePages.find(idHash, { now: Date.now(), thread_id });
  if (!found || (thread_id !== null && found.agent_ids.length === 0)) return undefined;
  return {
    agent_ids: found.agent_ids,
    cursor: [found.agent_ids.length, found.entries, found.approvals, found.answers, found.dead_inboxes].join(
      '.',
    ),
  };
}
