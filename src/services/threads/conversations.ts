import type { ConversationRow, ListedConversation } from '../../repositories/threads/conversations.ts';
import type { MessageRow } from '../../repositories/messages/messages.ts';
import type { SeenAgentRow } from '../../repositories/agents/agents.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { type Relationship, relationshipOf } from '../../../packages/core/src/domain/agents/agents.ts';
import { isId } from '../../../packages/core/src/domain/ids.ts';
import {
  type ConversationMark,
  type ConversationWait,
  maxSequence,
  type ThreadStatus,
} from '../../../packages/core/src/domain/threads.ts';
import type { ReadWork, SystemWork, Work } from '../../work/unit-of-work.ts';
import { parseAgentKey } from '../access.ts';
import { type PageRequest, readPage } from '../paging.ts';
import { type Receipt, readReceipts } from './receipts.ts';

type Conversations = SystemWork['db']['conversations'];

/** The people whose conversations are read: one account, or everyone who may act as an agent. */
export type ConversationReader = Parameters<Conversations['find']>[0];
/** A thread of at least one agent of the reader. */
export type Conversation = ConversationRow;

export type { ListedConversation };

export interface ConversationFilters {
  /** Id or handle of one of the reader's agents. */
  agent?: string | undefined;
  /** Id or handle of another member. */
  counterpart?: string | undefined;
  /** Absent: all threads that are not archived. */
  status?: ThreadStatus | undefined;
  waiting?: ConversationWait | undefined;
  unread?: boolean | undefined;
  /** By the marks of the person who reads. Absent: all. */
  mark?: ConversationMark | undefined;
}

/** The position of a conversation in a list: its activity (ms) and id. */
export interface ConversationPosition {
  activity: number;
  id: string;
}

/**
 * Returns up to `limit` conversations of a reader after a position, newest activity first. A thread that gets a message while the list is
 * read moves to its front.
 * @throws {DomainError} INVALID_HANDLE
 */
export function findConversations(
  { db: { conversations } }: ReadWork,
  reader: ConversationReader,
  filters: ConversationFilters,
  { after, limit }: { after: ConversationPosition | null; limit: number },
): Promise<ListedConversation[]> {
  const { agent, counterpart, status = null, waiting = null, unread = false, mark = null } = filters;
  return conversations.list(reader, {
    agent: agent === undefined ? null : parseAgentKey(agent),
    counterpart: counterpart === undefined ? null : parseAgentKey(counterpart),
    status,
    waiting,
    mark,
    unread,
    activity: after?.activity ?? null,
    id: after?.id ?? null,
    limit,
  });
}

/**
 * Returns a page of the conversations of all agents that the people behind the actor may act as.
 * @throws {DomainError} INVALID_HANDLE, INVALID_CURSOR
 */
export async function listConversations(work: Work, input: ConversationFilters & PageRequest) {
  const { agent = null, counterpart = null, status = null, waiting = null, unread = false } = input;
  return readPage(work, input, {
    binding: ['list_conversations', agent, counterpart, status, waiting, String(unread)],
    rows: (last: readonly [number, string] | null, limit) =>
      findConversations(work, { agent_id: work.actor.agent_id }, input, {
        after: last && { activity: last[0], id: last[1] },
        limit,
      }),
    position: ({ activity, id }) => [activity, id] as const,
  });
}

/**
 * Returns a conversation of the reader.
 * @throws {DomainError} THREAD_NOT_FOUND, the same for an absent thread and for one of others
 */
export async function requireConversation(
  { db: { conversations } }: ReadWork,
  reader: ConversationReader,
  thread_id: string,
): Promise<Conversation> {
  const found = isId('thread', thread_id) ? await conversations.find(reader, { thread_id }) : undefined;
  if (!found) throw new DomainError('THREAD_NOT_FOUND', 'No such conversation, or you cannot read it.');
  return found;
}

/** A conversation with a page of its messages. */
export interface ReadConversation {
  conversation: Conversation;
  /** In the order of the thread. */
  messages: (MessageRow & { relationship: Relationship })[];
  /** One per member, in the order of joining. */
  receipts: Receipt[];
  /** Whether there are earlier messages. */
  earlier: boolean;
  /** The members that are not retired, with their relation to the first of the reader's agents. */
  profiles: SeenAgentRow[];
}

/**
 * Returns a conversation with the latest messages before a sequence, oldest first, and the marks of all members. Relationships are those to the
 * first of the reader's agents. The cost does not depend on the length of the thread.
 * @throws {DomainError} THREAD_NOT_FOUND
 */
export async function readConversation(
  work: ReadWork,
  reader: ConversationReader,
  input: { thread_id: string; limit: number; before_sequence?: number | undefined },
): Promise<ReadConversation> {
  const conversation = await requireConversation(work, reader, input.thread_id);
  const below = input.before_sequence ?? maxSequence;
  const [rows, receipts, seen] = await Promise.all([
    work.db.messages.list(conversation, { below, above: 0, order: 'desc', limit: input.limit }),
    readReceipts(work, conversation.id, below),
    work.db.agents.findSeen(
      conversation.agents[0]?.id ?? '',
      conversation.members.map(({ id }) => id),
    ),
  ]);
  const relationships = new Map(seen.map((agent) => [agent.id, relationshipOf(agent)]));
  const messages = rows
    .toReversed()
    .map((row) => ({ ...row, relationship: relationships.get(row.sender_id) ?? ('none' as const) }));
  return { conversation, messages, receipts, earlier: (messages[0]?.sequence ?? 1) > 1, profiles: seen };
}
