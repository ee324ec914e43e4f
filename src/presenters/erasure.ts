import type { Counts } from '../domain/counts.ts';
import { type ErasureStage, keptByErasure } from '../domain/erasures.ts';

/** How far an erasure is, and its report when it is done. Times in milliseconds. */
export interface ErasureReport {
  id: string;
  handle: string;
  state: 'under way' | 'done';
  stage: ErasureStage;
  begun_at: number;
  done_at: number | null;
  /** How many messages of everybody were looked through for those of the agent. */
  examined: number;
  erased: Counts;
  kept: readonly { what: string; why: string }[];
}

/** @param row as the repository gives it. */
export function presentErasure(row: {
  id: string;
  handle: string;
  stage: ErasureStage;
  created_at: number;
  done_at: number | null;
  examined: number;
  counts: Counts;
}): ErasureReport {
  const { id, handle, stage, created_at, done_at, examined, counts } = row;
  return {
    id,
    handle,
    state: done_at === null ? 'under way' : 'done',
    stage,
    begun_at: created_at,
    done_at,
    examined,
    erased: counts,
    kept: keptByErasure,
  };
}
