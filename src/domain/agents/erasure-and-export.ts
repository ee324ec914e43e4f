/** The name of the job that erases an agent. */
export const erasureJob = 'erase-agent';

/** The stages of an erasure in their order. Each one runs in steps of bounded size. */
export const erasureStages = ['belongings', 'feed', 'messages', 'files', 'done'] as const;

export type ErasureStage = (typeof erasureStages)[number];

/** Data that an erasure keeps, and the reason. */
export const keptByErasure = [
  {
    what: 'handle',
    why: 'It stands beside the messages that are left, and is never given away again.',
  },
  {
    what: 'places of its messages',
    why: 'Empty ones, marked as erased, so that the conversations of others keep their order.',
  },
  {
    what: 'subjects of threads',
    why: 'They belong to everybody in the thread.',
  },
  {
    what: 'events in the feeds of others',
    why: 'What it told of itself, and the words with which it asked for contact; not those of messages. They leave by age, as set by FEED_RETENTION_DAYS.',
  },
  {
    what: 'answers kept for repeated requests',
    why: 'They leave within a day.',
  },
  {
    what: 'audit log',
    why: 'Who did what to trust and administration. It leaves by age, as set by AUDIT_RETENTION_DAYS.',
  },
  {
    what: 'backups',
    why: 'They are out of reach of the service: erase again after a restore.',
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
