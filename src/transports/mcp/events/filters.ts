import { z } from 'zod';
import { parseHandle } from '../../../../packages/core/src/domain/agents/handles.ts';
import type { EventFilter } from '../../../../packages/core/src/domain/feed/event-filter.ts';
import type { EventType } from '../../../../packages/core/src/domain/feed/events.ts';
import { agentHandle, threadId } from '../../../operations/fields.ts';
import { parseInput } from '../../../operations/execute/parse-input.ts';

const filterFields = {
  thread_id: threadId.describe('Only events of this thread.').optional(),
  with_handle: agentHandle
    .describe(
      'Only events that name this agent: messages that it sent, threads that it is a member of, its receipts, its contact. Case does not matter; a leading @ is accepted.',
    )
    .optional(),
  only_mentions: z.boolean().describe('Only messages whose text names you as @owner.agent_name.').optional(),
};

type FilterName = keyof typeof filterFields;

const ofThread = ['thread_id', 'with_handle'] as const;

/** The filters of each event type. */
const filtersByType: Record<EventType, readonly FilterName[]> = {
  'message.created': ['thread_id', 'with_handle', 'only_mentions'],
  'thread.created': ofThread,
  'thread.updated': ofThread,
  'thread.member_added': ofThread,
  'thread.member_removed': ofThread,
  'message.delivered': ofThread,
  'message.read': ofThread,
  'message.handled': ofThread,
  'attachment.scanned': ['thread_id'],
  'contact.request': ['with_handle'],
  'contact.added': ['with_handle'],
  'contact.updated': ['with_handle'],
  'contact.removed': ['with_handle'],
  'approval.resolved': ['with_handle'],
  'inbox.expired': [],
  'agent.updated': ['with_handle'],
};

/** The schema of the arguments of a subscription to events of this type. */
export function argumentsOf(type: EventType): z.ZodObject {
  return z.strictObject(Object.fromEntries(filtersByType[type].map((name) => [name, filterFields[name]])));
}

const anyArguments = z.object(filterFields);

/**
 * Reads the arguments of a subscription as a client sent them.
 * @throws {DomainError} VALIDATION_ERROR, INVALID_HANDLE
 */
export function readFilter(type: EventType, args: unknown): EventFilter {
  const { with_handle, ...filter } = anyArguments.parse(parseInput(argumentsOf(type), args));
  return { ...filter, ...(with_handle !== undefined && { with_handle: parseHandle(with_handle).canonical }) };
}
