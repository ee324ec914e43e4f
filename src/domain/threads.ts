export const threadStatuses = ['active', 'closed', 'archived'] as const;

export type ThreadStatus = (typeof threadStatuses)[number];

const transitions: Record<ThreadStatus, readonly ThreadStatus[]> = {
  active: ['closed', 'archived'],
  closed: ['active', 'archived'],
  archived: ['active'],
};

/** Whether a thread may go from one status to another one (contract, section 3). */
export function canTransition(from: ThreadStatus, to: ThreadStatus): boolean {
  return transitions[from].includes(to);
}

/** The largest sequence that a message can have: that of an integer in PostgreSQL. */
export const maxSequence = 2_147_483_647;

/** Whether a sender says, in the metadata of a message, that it wants no answer. */
export function wantsNoReply(metadata: unknown): boolean {
  return (
    typeof metadata === 'object' &&
    metadata !== null &&
    'no_reply_expected' in metadata &&
    metadata.no_reply_expected === true
  );
}
