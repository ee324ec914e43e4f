import { DomainError } from '../../../../../packages/core/src/domain/errors.ts';
import { getInboxOperation } from '../../../../operations/inbox/get-inbox.ts';
import type { ActingAgent } from '../../act-as-agent.ts';

export const inboxPath = '/console/agents/:id/inbox';

/** The inbox of the agent; undefined if it is off. */
export async function readInboxIfOn({ call }: ActingAgent) {
  try {
    return await call(getInboxOperation);
  } catch (error) {
    if (error instanceof DomainError && error.code === 'INBOX_NOT_FOUND') return undefined;
    throw error;
  }
}

/** An inbox that is on. */
export type Inbox = NonNullable<Awaited<ReturnType<typeof readInboxIfOn>>>;
