/** The name of the job that makes one. */
export const exportJob = 'export-agent';

/** What is gathered, one stage after the other, in steps of bounded size; the archive is made of that at the end. */
export const exportStages = ['belongings', 'conversations', 'archive', 'done'] as const;

export type ExportStage = (typeof exportStages)[number];

/** What the archive of an agent is called when it is handed out. @param at milliseconds. */
export function archiveName(handle: string, at: number): string {
  return `${handle}-${new Date(at).toISOString().slice(0, 10)}.zip`;
}
