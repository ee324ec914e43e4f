import { z } from 'zod';
import { parseHandle } from '../../../domain/agents/handles.ts';
import type { Actor } from '../../../domain/auth/actor.ts';
import type { EventType } from '../../../domain/feed/events.ts';
import { agentHandle, threadId } from '../../../operations/fields.ts';
import { parseInput } from '../../../operations/execute/parse-input.ts';
import type { LiveEvent } from '../../../realtime/contract.ts';
import { readField } from '../protocol/required-scopes.ts';

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
 * Returns whether an event is one of a subscription. A thread or an agent that does not exist, or that the agent cannot see, is like one
 * without events. The agent's own messages are left out, because they would start an agent that reacts to them again.
 * @param args arguments as the client sent them.
 * @throws {DomainError} VALIDATION_ERROR, INVALID_HANDLE
 */
export function createFilter(
  { agent_id, handle }: Pick<Actor, 'agent_id' | 'handle'>,
  type: EventType,
  args: unknown,
): (event: LiveEvent) => boolean {
  const { thread_id, with_handle, only_mentions } = anyArguments.parse(parseInput(argumentsOf(type), args));
  const other = with_handle === undefined ? undefined : parseHandle(with_handle).canonical;
  const mention = only_mentions === true ? mentionOf(handle) : undefined;
  return (event) =>
    event.type === type &&
    !(type === 'message.created' && event.message?.sender_id === agent_id) &&
    (thread_id === undefined || event.thread_id === thread_id) &&
    (other === undefined || handlesIn(event.data).includes(other)) &&
    (mention === undefined || mention.test(String(readField(event.data, 'content'))));
}

/** Finds a handle with `@` that is not part of a longer one. */
function mentionOf(handle: string): RegExp {
  return new RegExp(`(?<![a-z0-9_.@-])@${handle.replaceAll('.', '\\.')}(?![a-z0-9_-]|\\.[a-z0-9])`, 'i');
}

/** Fields of event data with an agent. */
const agentFields = ['sender', 'agent', 'member', 'by', 'from'];

/** The agents that the data of an event names, by handle; none from texts and metadata, which their senders write. */
function handlesIn(data: object): unknown[] {
  const members = [readField(data, 'members'), readField(readField(data, 'thread'), 'members')];
  const agents = [data, ...agentFields.map((name) => readField(data, name)), ...members.flat()];
  return [...agents.map((agent) => readField(agent, 'canonical_handle')), readField(data, 'target')];
}
