import { toOneLine } from './visible-text.ts';

export const threadStatuses = ['active', 'closed', 'archived'] as const;

export type ThreadStatus = (typeof threadStatuses)[number];

/** On whose answer a thread waits: one of the reader's agents, or another member. */
export const conversationWaits = ['me', 'others'] as const;

export type ConversationWait = (typeof conversationWaits)[number];

/** How people filter conversations by their own marks. */
export const conversationMarks = ['open', 'done', 'muted'] as const;

export type ConversationMark = (typeof conversationMarks)[number];

/** What keeps an agent from answering, as far as it is stored. */
export const waitStates = ['waits_for_person', 'waits_for_agent', 'silent', 'offline'] as const;

export type WaitState = (typeof waitStates)[number];

const transitions: Record<ThreadStatus, readonly ThreadStatus[]> = {
  active: ['closed', 'archived'],
  closed: ['active', 'archived'],
  archived: ['active'],
};

/** Whether a thread can change from one status to another. */
export function canTransition(from: ThreadStatus, to: ThreadStatus): boolean {
  return transitions[from].includes(to);
}

/** The largest sequence of a message: the maximum of a PostgreSQL integer. */
export const maxSequence = 2_147_483_647;

/** Whether the metadata of a message asks for no reply. */
export const wantsNoReply = (metadata: unknown): boolean => isSet(metadata, 'no_reply_expected');

/** Whether the metadata of a message asks for the answer of a person. */
export const asksPerson = (metadata: unknown): boolean => isSet(metadata, 'asks_person');

/** Whether a message waits for a reply: its sender or a question to a person says so. */
export const expectsReply = (metadata: unknown): boolean =>
  isSet(metadata, 'expects_reply') || asksPerson(metadata);

/** Others are not listed as asked. */
export const maxAskedMembers = 9;

/** How long a message waits for a reply, in milliseconds. */
export const expectedReplyLifeMs = 30 * 24 * 60 * 60 * 1000;

function isSet(metadata: unknown, field: string): boolean {
  return typeof metadata === 'object' && metadata !== null && Reflect.get(metadata, field) === true;
}

/** The subject as it is shown. A subject of an older release can have invisible characters only; then it counts as absent. */
export function presentSubject(subject: string | null): string | null {
  return toOneLine(subject ?? '') || null;
}

/** The writers of messages: the agent itself, a person as the agent, or the agent with a text that a person edited. */
export const messageWriters = ['agent', 'person', 'person_edited'] as const;

export type MessageWriter = (typeof messageWriters)[number];
