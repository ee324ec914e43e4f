/** How far work on an agent is that takes its time. Times in milliseconds. */
export interface Progress<Stage> {
  id: string;
  handle: string;
  state: 'under way' | 'done';
  stage: Stage;
  begun_at: number;
  done_at: number | null;
}

/** What is kept of it. */
export interface ProgressRow<Stage> {
  id: string;
  handle: string;
  stage: Stage;
  created_at: number;
  done_at: number | null;
}

/** @param row as the repository of an export or an erasure gives it. */
export function presentProgress<Stage>(row: ProgressRow<Stage>): Progress<Stage> {
  const { id, handle, stage, created_at, done_at } = row;
  return { id, handle, state: done_at === null ? 'under way' : 'done', stage, begun_at: created_at, done_at };
}
