/** The name of the job that erases an agent. */
export const erasureJob = 'erase-agent';

/** The stages of an erasure in their order. Each one runs in steps of bounded size. */
export const erasureStages = ['belongings', 'feed', 'messages', 'files', 'done'] as const;

export type ErasureStage = (typeof erasureStages)[number];

/** Data that an erasure keeps, and the reason. */
export const keptByErasure = [
  {
    what: 'handle',
    why: 'The remaining messages show it. It can never be registered again.',
  },
  {
    what: 'positions of its messages',
    why: 'Empty messages, marked as erased, keep the order of the conversations.',
  },
  {
    what: 'subjects of threads',
    why: 'They belong to all members of the thread.',
  },
  {
    what: 'events in the feeds of others',
    why: 'They contain its profile and its contact requests, but no messages. They are deleted after FEED_RETENTION_DAYS.',
  },
  {
    what: 'stored answers to repeated requests',
    why: 'They are deleted within a day.',
  },
  {
    what: 'audit log',
    why: 'It records changes of trust and administration. Its entries are deleted after AUDIT_RETENTION_DAYS.',
  },
  {
    what: 'backups',
    why: 'The service cannot change them. Erase the agent again after a restore.',
  },
] as const;

/** Counts of rows by name. */
export type Counts = Readonly<Record<string, number>>;

/** Adds counts by name. */
export function addCounts(counts: Counts, more: Counts): Counts {
  const sum: Record<string, number> = { ...counts };
  for (const [name, rows] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + rows;
  return sum;
}

/** The name of the job that exports an agent. */
export const exportJob = 'export-agent';

/** The stages of an export in their order. Each one runs in steps of bounded size; the last one makes the archive. */
export const exportStages = ['belongings', 'conversations', 'archive', 'done'] as const;

export type ExportStage = (typeof exportStages)[number];

/**
 * The file name of an export archive.
 * @param at milliseconds since the epoch.
 */
export function archiveName(handle: string, at: number): string {
  return `${handle}-${new Date(at).toISOString().slice(0, 10)}.zip`;
}
