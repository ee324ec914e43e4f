export const threadStatuses = ['active', 'closed', 'archived'] as const;

export type ThreadStatus = (typeof threadStatuses)[number];

const moves: Record<ThreadStatus, readonly ThreadStatus[]> = {
  active: ['closed', 'archived'],
  closed: ['active', 'archived'],
  archived: ['active'],
};

/** Whether a thread may go from one status to another one (contract, section 3). */
export function canMove(from: ThreadStatus, to: ThreadStatus): boolean {
  return moves[from].includes(to);
}

/** The largest sequence that a message can have: that of an integer in PostgreSQL. */
export const largestSequence = 2_147_483_647;
